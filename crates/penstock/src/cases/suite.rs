//! The cases about one configuration, run on several threads.

use super::coverage::{Coverage, Taken};
use super::databases;
use super::files::{Cases, Read};
use super::judge::{Failure, judge};
use super::play::{Played, Player};
use super::read::Case;
use crate::configuration::Configuration;
use crate::explain::{rehearse, render};
use control::cli::TestArgs;
use engine::compile::{Existing, Plan};
use parking_lot::Mutex;
use std::path::PathBuf;
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

/// How a case went.
pub struct Verdict {
    /// Which of the files, and which case of it; None for an example of a pattern database.
    pub at: Option<(usize, usize)>,
    /// The file that it stands in.
    pub file: String,
    pub name: String,
    pub took: Duration,
    pub failures: Vec<Failure>,
    /// The ways of its messages, where it failed.
    pub explained: String,
    /// What it would have to expect, for those who write that into its file.
    pub played: Option<Played>,
}

impl Suite {
    pub fn has_failed(&self) -> bool {
        self.error.is_some() || self.verdicts.iter().any(|verdict| !verdict.failures.is_empty())
    }
}

pub fn test(found: Cases, args: &TestArgs) -> Suite {
    let mut suite =
        Suite { config: found.config, files: found.files, verdicts: Vec::new(), error: None, coverage: None };
    let mut configuration = Configuration::read(&suite.config);
    let identity = Identity::new(HOST);
    let Some(plan) = configuration.compile(&identity, &Existing::tried()) else {
        suite.error = Some(configuration.report());
        return suite;
    };
    let jobs = jobs(&suite.files, args);
    let bench = Bench { files: &suite.files, plan: &plan, identity, keeps: args.update };
    let (verdicts, taken) = bench.run(&jobs, args);
    suite.verdicts = verdicts;
    let mut coverage = Coverage::new(&configuration, &plan, taken);
    match databases::test(&configuration, args, &mut coverage) {
        Ok(examples) => suite.verdicts.extend(examples),
        Err(error) => suite.error = Some(error),
    }
    suite.coverage = args.wants_coverage().then_some(coverage);
    suite
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
        let threads =
            args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
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
                    explained = render(&played.stories, &self.plan.map, &fates, false);
                }
                kept = self.keeps.then_some(played);
            }
        }
        Some(Verdict {
            at: Some(at),
            file: read.path.display().to_string(),
            name: case.name.clone(),
            took: began.elapsed(),
            failures,
            explained,
            played: kept,
        })
    }
}
