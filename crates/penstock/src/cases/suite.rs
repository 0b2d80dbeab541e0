//! The cases about one configuration, run on several threads.

use super::apart;
use super::coverage::{Coverage, Taken};
use super::databases;
use super::environment::Environment;
use super::files::{Cases, Read};
use super::judge::{Failure, judge};
use super::play::{Output, Player};
use super::read::Case;
use crate::configuration::Configuration;
use crate::explain::{rehearse, render};
use crate::subject::secrets::Veil;
use control::cli::TestArgs;
use engine::compile::{Existing, Plan};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use template::Identity;

/// The host that configurations under test run on.
const HOST: &str = "localhost";

/// A tested configuration.
pub struct Suite {
    pub config: PathBuf,
    /// The files, for those who write into them.
    pub files: Vec<Read>,
    pub verdicts: Vec<Verdict>,
    /// The configuration cannot be used, or a database cannot be read.
    pub error: Option<String>,
    pub coverage: Option<Coverage>,
}

/// What came of the cases that have one environment in common.
#[derive(Default, Serialize, Deserialize)]
pub struct Part {
    pub verdicts: Vec<Verdict>,
    pub error: Option<String>,
    pub coverage: Option<Coverage>,
}

/// How a case went.
#[derive(Serialize, Deserialize)]
pub struct Verdict {
    /// Which of the files, and which case of it; None for an example of a pattern database.
    pub at: Option<(usize, usize)>,
    /// The file that it stands in.
    pub file: String,
    pub name: String,
    pub environment: Environment,
    pub took: Duration,
    pub failures: Vec<Failure>,
    /// The ways of its messages, where it failed.
    pub explained: String,
    /// What came of it, for those who write that into its file.
    pub outputs: Option<Vec<Output>>,
}

impl Suite {
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.verdicts.iter().any(|verdict| !verdict.failures.is_empty())
    }
}

pub fn test(found: Cases, args: &TestArgs) -> Suite {
    let Cases { config, files } = found;
    let groups = groups(&files, args);
    let all = args.jobs.unwrap_or_else(threads).max(1);
    let workers = all.min(groups.len());
    let args = &TestArgs { jobs: Some(all.div_ceil(workers.max(1))), ..args.clone() };
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((environment, jobs)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let part = match environment.is_own() {
                true => part(&config, &files, jobs, args),
                false => apart::test(environment, &config, &files, jobs, args),
            };
            done.lock().push((environment, part));
        }
    };
    std::thread::scope(|scope| {
        (1..workers).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let mut parts = done.into_inner();
    parts.sort_by_key(|(environment, _)| groups.iter().position(|(other, _)| other == *environment));
    let mut whole = Part::default();
    parts.into_iter().for_each(|(environment, part)| whole.add(environment, part));
    whole.put_in_order();
    Suite { config, files, verdicts: whole.verdicts, error: whole.error, coverage: whole.coverage }
}

/// The cases of a configuration that have their environment in common, in the one that this process has.
pub fn part(config: &Path, files: &[Read], jobs: &[(usize, usize)], args: &TestArgs) -> Part {
    let mut part = Part::default();
    let mut configuration = Configuration::look(config);
    let identity = Identity::new(HOST);
    let Some(plan) = configuration.compile(&identity, &Existing::tried()) else {
        part.error = Some(configuration.report());
        return part;
    };
    let bench = Bench { files, plan: &plan, identity, keeps: args.update };
    let (verdicts, taken) = bench.run(jobs, args);
    part.verdicts = verdicts;
    let mut coverage = Coverage::new(&configuration, &plan, taken);
    match databases::test(&configuration, args, &mut coverage) {
        Ok(examples) => part.verdicts.extend(examples),
        Err(error) => part.error = Some(error),
    }
    part.coverage = args.wants_coverage().then_some(coverage);
    part
}

impl Part {
    /// What came of other cases, which have an environment of their own.
    fn add(&mut self, environment: &Environment, other: Part) {
        self.verdicts.extend(other.verdicts);
        if let Some(error) = other.error {
            let all = self.error.get_or_insert_default();
            if !environment.is_own() {
                let _ = writeln!(all, "with {environment}:");
            }
            let _ = writeln!(all, "{}", error.trim_end());
        }
        match (&mut self.coverage, other.coverage) {
            (Some(coverage), Some(more)) => coverage.add(more),
            (coverage, more) => *coverage = coverage.take().or(more),
        }
    }

    /// Cases as they stand in their files, then the examples of databases, which each environment has tried:
    /// the first that failed, or the first.
    fn put_in_order(&mut self) {
        let is_example = |verdict: &Verdict| verdict.at.is_none();
        self.verdicts.sort_by_key(|verdict| {
            (is_example(verdict), verdict.at, is_example(verdict) && verdict.failures.is_empty())
        });
        let mut seen = HashSet::new();
        self.verdicts.retain(|verdict| {
            !is_example(verdict) || seen.insert((verdict.file.clone(), verdict.name.clone()))
        });
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Which cases are to be run, by the environment that they have in common.
fn groups(files: &[Read], args: &TestArgs) -> Vec<(Environment, Vec<(usize, usize)>)> {
    let mut groups: Vec<(Environment, Vec<(usize, usize)>)> = Vec::new();
    let mut known = HashMap::new();
    for (file, case) in jobs(files, args) {
        let of =
            files.get(file).and_then(|read| Some(Environment::of(&read.file, read.file.cases.get(case)?)));
        let environment = of.unwrap_or_default();
        let index = *known.entry(environment.clone()).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, jobs)) => jobs.push((file, case)),
            None => groups.push((environment, vec![(file, case)])),
        }
    }
    if groups.is_empty() {
        // The configuration and its databases are looked at all the same.
        groups.push((Environment::default(), Vec::new()));
    }
    groups
}

/// A case of a file is meant by `--only`, or all are.
pub fn is_meant(name: &str, args: &TestArgs) -> bool {
    args.only.is_empty() || args.only.iter().any(|part| name.contains(part.as_str()))
}

/// File and case of all that are to be run.
fn jobs(files: &[Read], args: &TestArgs) -> Vec<(usize, usize)> {
    let cases = |(index, read): (usize, &Read)| {
        let meant = read.file.cases.iter().enumerate().filter(|(_, case)| is_meant(&case.name, args));
        meant.map(move |(case, _)| (index, case)).collect::<Vec<_>>()
    };
    files.iter().enumerate().flat_map(cases).collect()
}

struct Bench<'b> {
    files: &'b [Read],
    plan: &'b Plan,
    identity: Identity,
    /// What came of the cases is kept.
    keeps: bool,
}

impl Bench<'_> {
    fn run(&self, jobs: &[(usize, usize)], args: &TestArgs) -> (Vec<Verdict>, Taken) {
        let mut first = Player::new(self.plan, self.identity.clone());
        // Contexts are shared by all threads: cases with any are played here, one after the other.
        let (alone, free): (Vec<usize>, Vec<usize>) = (0..jobs.len()).partition(|job| {
            jobs.get(*job)
                .and_then(|job| self.case(*job))
                .is_some_and(|(read, case)| first.is_stateful(&read.file, case))
        });
        let threads = args.jobs.unwrap_or_else(threads);
        let next = AtomicUsize::new(0);
        let done: Mutex<(Vec<(usize, Verdict)>, Taken)> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 1..threads.min(free.len()) {
                scope.spawn(|| {
                    self.work(jobs, &free, &next, &done, Player::new(self.plan, self.identity.clone()))
                });
            }
            self.work(jobs, &free, &next, &done, Player::new(self.plan, self.identity.clone()));
        });
        next.store(0, Ordering::Relaxed);
        self.work(jobs, &alone, &next, &done, first);
        let (mut verdicts, taken) = done.into_inner();
        verdicts.sort_by_key(|(job, _)| *job);
        (verdicts.into_iter().map(|(_, verdict)| verdict).collect(), taken)
    }

    fn case(&self, (file, case): (usize, usize)) -> Option<(&Read, &Case)> {
        let read = self.files.get(file)?;
        Some((read, read.file.cases.get(case)?))
    }

    fn work(
        &self,
        jobs: &[(usize, usize)],
        mine: &[usize],
        next: &AtomicUsize,
        done: &Mutex<(Vec<(usize, Verdict)>, Taken)>,
        mut player: Player<'_>,
    ) {
        let (mut verdicts, mut taken) = (Vec::new(), Taken::default());
        while let Some(job) = mine.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(at) = jobs.get(*job).copied() else { break };
            verdicts.extend(self.verdict(at, &mut player, &mut taken).map(|verdict| (*job, verdict)));
        }
        let mut done = done.lock();
        done.0.extend(verdicts);
        done.1.add(&taken);
    }

    fn verdict(&self, at: (usize, usize), player: &mut Player<'_>, taken: &mut Taken) -> Option<Verdict> {
        let (read, case) = self.case(at)?;
        let began = Instant::now();
        let (mut failures, mut explained, mut kept) = (Vec::new(), String::new(), None);
        match player.play(&read.file, case) {
            Err(text) => failures.push(Failure { expectation: None, text }),
            Ok(played) => {
                taken.note(&played.stories);
                failures = judge(case, &played, self.plan);
                if !failures.is_empty() {
                    let fates = rehearse::fates(&played.stories);
                    let veil = Veil::default();
                    explained = render(&played.stories, &self.plan.map, &fates, false, &veil);
                }
                kept = self.keeps.then_some(played.outputs);
            }
        }
        Some(Verdict {
            at: Some(at),
            file: read.path.display().to_string(),
            name: case.name.clone(),
            environment: Environment::of(&read.file, case),
            took: began.elapsed(),
            failures,
            explained,
            outputs: kept,
        })
    }
}
