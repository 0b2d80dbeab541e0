//! Messages run through both configurations, destinations muted: which of them would come out differently,
//! and because of which statement.

mod cause;

use super::compare::{Change, Difference};
use super::live;
use crate::explain::rehearse::{self, TRANSPORT, makes_its_own};
use cause::Ways;
use control::cli::DiffArgs;
use engine::compile::{Plan, PlannedSource};
use engine::watch::inquiry::{Happened, Story};
use engine::watch::looks::Looks;
use engine::watch::rehearsal::{Input, Rehearsal};
use record::Stamp;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use stdio::CommandError;

/// Messages of one sample.
const MESSAGES_MAX: u64 = 1_000_000;
/// Bytes of one message.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Bytes that are kept of what a destination would write.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Kinds of outcomes that are told apart.
const OUTCOMES_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Changed,
    NoLonger,
    Newly,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Changed, Class::NoLonger, Class::Newly];

    pub fn word(self) -> &'static str {
        match self {
            Class::Changed => "changed",
            Class::NoLonger => "no longer written",
            Class::Newly => "newly written",
        }
    }
}

/// Messages that come out differently in the same way.
pub struct Outcome {
    pub class: Class,
    /// `d_app#0`
    pub destination: String,
    /// The statement that causes it, in words, and its place.
    pub cause: String,
    pub at: Option<String>,
    pub count: u64,
    /// An example, and what the two configurations make of it.
    pub message: Vec<u8>,
    pub old: Vec<Vec<u8>>,
    pub new: Vec<Vec<u8>>,
}

/// What came of a sample.
pub struct Sampled {
    pub messages: u64,
    /// Of what destinations would write, so much is the same.
    pub same: u64,
    pub outcomes: Vec<Outcome>,
    /// Of the old configuration and of the new one.
    pub cpu: [Duration; 2],
}

impl Sampled {
    pub fn is_same(&self) -> bool {
        self.outcomes.is_empty()
    }
}

/// One of the two configurations.
pub struct Side<'p> {
    plan: &'p Plan,
    name: String,
}

impl<'p> Side<'p> {
    pub fn new(plan: &'p Plan, path: &Path) -> Side<'p> {
        Side { plan, name: path.display().to_string() }
    }
}

/// What one side makes of messages.
struct Player<'p> {
    side: &'p Side<'p>,
    source: &'p PlannedSource,
    rehearsal: Rehearsal,
    ways: Ways<'p>,
    cpu: Duration,
}

impl<'p> Player<'p> {
    fn of(side: &'p Side<'p>, source: Option<&str>) -> Result<Player<'p>, CommandError> {
        let source =
            rehearse::source_of(side.plan, source).map_err(|error| format!("{}: {error}", side.name))?;
        let rehearsal = Rehearsal::of(source, &side.plan.identity).ok_or_else(|| makes_its_own(source))?;
        let ways = Ways::of(&side.plan.map);
        Ok(Player { side, source, rehearsal, ways, cpu: Duration::ZERO })
    }

    fn play(&mut self, text: &[u8], received: Stamp, from: Option<SocketAddr>) -> Vec<Story> {
        let began = thread_time();
        let context = rehearse::context(self.source, &self.side.plan.identity, from, TRANSPORT);
        let looks = Looks::nowhere(TEXT_BYTES_MAX);
        let stories = self.rehearsal.message(&Input { text, context, received }, &looks);
        self.cpu += thread_time().saturating_sub(began);
        stories
    }
}

/// The processor's time of this thread.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let (secs, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0));
    Duration::new(secs, nanos)
}

pub fn run(
    args: &DiffArgs,
    sides: &[Side<'_>; 2],
    differences: &[Difference],
) -> Result<Sampled, CommandError> {
    let [old, new] = sides;
    let mut old = Player::of(old, args.source.as_deref())?;
    let mut new = Player::of(new, args.source.as_deref())?;
    let from = args.from.map(|from| SocketAddr::new(from, 0));
    let mut sampled = Sampled { messages: 0, same: 0, outcomes: Vec::new(), cpu: [Duration::ZERO; 2] };
    let mut collected = Collected { renamed: renamed(differences), ..Collected::default() };
    let mut play = |line: &[u8]| {
        let received = Stamp::now(0);
        let stories = [old.play(line, received, from), new.play(line, received, from)];
        sampled.messages += 1;
        sampled.same += collected.hold_against(line, &stories, [&mut old, &mut new]);
    };
    match (&args.sample, args.live) {
        (Some(path), _) => each_line(path, play)?,
        (None, seconds) => {
            let messages = live::messages(args, seconds.unwrap_or_default())?;
            messages.iter().for_each(|message| play(message));
        }
    }
    if sampled.messages == 0 {
        return Err("there are no messages to try".into());
    }
    sampled.outcomes = collected.into_outcomes();
    sampled.cpu = [old.cpu, new.cpu];
    Ok(sampled)
}

/// Whether these messages come out the same on both sides.
pub fn is_same<'m>(
    sides: &[Side<'_>; 2],
    source: Option<&str>,
    messages: impl Iterator<Item = &'m [u8]>,
) -> Result<bool, CommandError> {
    let [old, new] = sides;
    let mut old = Player::of(old, source)?;
    let mut new = Player::of(new, source)?;
    let (received, nobody) = (Stamp::now(0), HashMap::new());
    for line in messages {
        let before = old.play(line, received, None);
        if written(&before, &nobody) != written(&new.play(line, received, None), &nobody) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Destinations that have another name now.
fn renamed(differences: &[Difference]) -> HashMap<String, String> {
    let names = differences.iter().filter(|difference| difference.change == Change::Renamed);
    names.filter_map(|d| Some((d.old.as_ref()?.text.clone(), d.new.as_ref()?.text.clone()))).collect()
}

/// Outcomes by class, destination and cause.
#[derive(Default)]
struct Collected {
    renamed: HashMap<String, String>,
    outcomes: BTreeMap<(Class, String, String), Outcome>,
}

/// What a destination would write, in the order of the text: where, and what.
type Written = BTreeMap<String, Vec<(String, Vec<u8>)>>;

impl Collected {
    /// Notes what differs; gives the number of outputs that are the same.
    fn hold_against(&mut self, line: &[u8], stories: &[Vec<Story>; 2], players: [&mut Player<'_>; 2]) -> u64 {
        let [old_stories, new_stories] = stories;
        let [old_player, new_player] = players;
        let old = written(old_stories, &self.renamed);
        let new = written(new_stories, &HashMap::new());
        let mut same = 0;
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for destination in names {
            let (before, after) = (old.get(destination), new.get(destination));
            let class = match (before, after) {
                (Some(before), Some(after)) if before == after => {
                    same += before.len() as u64;
                    continue;
                }
                (Some(_), Some(_)) => Class::Changed,
                (Some(_), None) => Class::NoLonger,
                (None, _) => Class::Newly,
            };
            let back = self.renamed.iter().find(|(_, now)| is_of(destination, now));
            let old_name = back.map_or_else(
                || destination.clone(),
                |(before, now)| destination.replacen(now.as_str(), before, 1),
            );
            let sides = [
                (&mut old_player.ways, old_stories.as_slice(), old_name.as_str()),
                (&mut new_player.ways, new_stories.as_slice(), destination.as_str()),
            ];
            let cause = cause::of(class, sides, &new_player.side.name);
            self.note(class, destination, cause, || (line.to_vec(), texts(before), texts(after)));
        }
        same
    }

    fn note(
        &mut self,
        class: Class,
        destination: &str,
        cause: cause::Cause,
        example: impl FnOnce() -> (Vec<u8>, Vec<Vec<u8>>, Vec<Vec<u8>>),
    ) {
        let key = (class, destination.to_owned(), cause.words.clone());
        if let Some(known) = self.outcomes.get_mut(&key) {
            known.count += 1;
            return;
        }
        if self.outcomes.len() >= OUTCOMES_MAX {
            return;
        }
        let (message, old, new) = example();
        let destination = destination.to_owned();
        let (cause, at) = (cause.words, cause.at);
        self.outcomes.insert(key, Outcome { class, destination, cause, at, count: 1, message, old, new });
    }

    /// The most frequent first.
    fn into_outcomes(self) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = self.outcomes.into_values().collect();
        outcomes.sort_by_key(|outcome| (outcome.class, std::cmp::Reverse(outcome.count)));
        outcomes
    }
}

/// `d_app#0` is a driver of `d_app`.
fn is_of(id: &str, name: &str) -> bool {
    id.rsplit_once('#').is_some_and(|(group, _)| group == name)
}

fn texts(written: Option<&Vec<(String, Vec<u8>)>>) -> Vec<Vec<u8>> {
    let Some(written) = written else { return Vec::new() };
    written.iter().map(|(to, text)| [format!("{to}: ").as_bytes(), text].concat()).collect()
}

fn written(stories: &[Story], renamed: &HashMap<String, String>) -> Written {
    let mut written = Written::new();
    for told in stories.iter().flat_map(|story| &story.told) {
        let (Some((_, statement)), Happened::Queued { name, output, .. }) = (&told.step, &told.what) else {
            continue;
        };
        let id = &statement.rule;
        let now = id.rsplit_once('#').and_then(|(group, n)| Some(format!("{}#{n}", renamed.get(group)?)));
        let text = output.kept.strip_suffix(b"\n").unwrap_or(&output.kept).to_vec();
        written.entry(now.unwrap_or_else(|| id.clone())).or_default().push((name.clone(), text));
    }
    written
}

fn each_line(path: &Path, mut see: impl FnMut(&[u8])) -> Result<(), CommandError> {
    let wrong = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let input: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(path).map_err(wrong)?),
    };
    let mut input = BufReader::new(input);
    let (mut line, mut count) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(wrong)?;
        if read == 0 {
            return Ok(());
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() {
            continue;
        }
        count += 1;
        if count > MESSAGES_MAX {
            return Err(format!("{} has more than {MESSAGES_MAX} messages", path.display()).into());
        }
        see(text);
    }
}
