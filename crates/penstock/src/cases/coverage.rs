//! What the cases have taken of a configuration: statements, branches, both outcomes of filters and parsers,
//! rules of pattern databases.

pub mod annotated;
mod gaps;
pub mod lcov;
pub mod page;
pub mod table;

use crate::configuration::Configuration;
use crate::library;
use engine::compile::Plan;
use engine::plan_map::{Entry, StepId};
use engine::watch::inquiry::{Happened, Story};
use engine::watch::{Kind, Verdict};
use filterx::Role;
pub use gaps::Gap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Characters of a statement that are shown.
const LABEL_CHARS_MAX: usize = 60;
/// Where the distribution's library is.
const THEIRS: &str = "/usr/share/syslog-ng";

/// How often messages came to steps, and what became of them there.
#[derive(Default)]
pub struct Taken {
    steps: HashMap<StepId, Counts>,
    /// Statements and conditions of FilterX, by the step and where they stand.
    expressions: HashMap<(StepId, String), Counts>,
    /// By the rule's id.
    rules: HashMap<String, u64>,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Counts {
    pub entered: u64,
    pub passed: u64,
    pub stopped: u64,
    pub skipped: u64,
}

/// A step of the plan, or a statement or condition in it.
#[derive(Serialize, Deserialize)]
pub struct Row {
    pub file: String,
    pub line: u32,
    pub label: String,
    pub is_step: bool,
    /// Messages can go on there or not.
    pub decides: bool,
    pub counts: Counts,
    /// What no case has taken of it.
    pub gap: Option<Gap>,
    /// Where its statement stands, when that is elsewhere.
    definition: Option<(String, u32)>,
}

/// A rule of a pattern database.
#[derive(Serialize, Deserialize)]
pub struct RuleRow {
    pub database: String,
    pub id: String,
    /// Messages of cases.
    pub cases: u64,
    /// Examples of the database.
    pub examples: u64,
}

/// A line of the configuration.
#[derive(Default)]
pub struct Line {
    pub entered: u64,
    pub gaps: Vec<String>,
    /// Of filters and parsers, how many messages went on and how many did not.
    pub outcomes: Vec<(u64, u64)>,
}

#[derive(Serialize, Deserialize)]
pub struct Coverage {
    pub config: String,
    pub rows: Vec<Row>,
    pub rules: Vec<RuleRow>,
    /// The files of the configuration, with their texts.
    pub texts: BTreeMap<String, String>,
    #[serde(skip)]
    hits: HashMap<String, u64>,
}

impl Taken {
    pub fn note(&mut self, stories: &[Story]) {
        for told in stories.iter().flat_map(|story| &story.told) {
            if let Happened::Changed { name, after: Some(rule), .. } = &told.what
                && name.ends_with("classifier.rule_id")
            {
                *self.rules.entry(String::from_utf8_lossy(&rule.kept).into_owned()).or_default() += 1;
            }
            let Some((id, statement)) = &told.step else { continue };
            if let Happened::Judged { function: "filterx", operands, holds } = &told.what
                && let Some((_, place)) = operands.iter().find(|(name, _)| *name == "expr")
            {
                let place = String::from_utf8_lossy(&place.kept).into_owned();
                let counts = self.expressions.entry((*id, place)).or_default();
                counts.entered += 1;
                *(if *holds { &mut counts.passed } else { &mut counts.stopped }) += 1;
            }
            let counts = self.steps.entry(*id).or_default();
            match &told.what {
                Happened::Begins => counts.entered += 1,
                Happened::Is { .. } if statement.kind == Kind::Destination => counts.entered += 1,
                Happened::Ends(Verdict::Passed) => counts.passed += 1,
                Happened::Ends(Verdict::Stopped) => counts.stopped += 1,
                Happened::Ends(Verdict::Skipped) => counts.skipped += 1,
                _ => {}
            }
        }
    }

    pub fn add(&mut self, other: &Taken) {
        for (id, more) in &other.steps {
            self.steps.entry(*id).or_default().add(*more);
        }
        for (place, more) in &other.expressions {
            self.expressions.entry(place.clone()).or_default().add(*more);
        }
        for (rule, more) in &other.rules {
            *self.rules.entry(rule.clone()).or_default() += more;
        }
    }
}

impl Counts {
    fn add(&mut self, more: Counts) {
        self.entered += more.entered;
        self.passed += more.passed;
        self.stopped += more.stopped;
        self.skipped += more.skipped;
    }
}

impl Row {
    /// The same row of the same configuration in another environment has the same.
    fn identity(&self) -> (String, u32, String, bool) {
        (self.file.clone(), self.line, self.label.clone(), self.is_step)
    }
}

impl Coverage {
    pub fn new(configuration: &Configuration, plan: &Plan, taken: Taken) -> Coverage {
        let sources = &configuration.parsed.sources;
        let counted = Counted::of(plan, &taken);
        let mut rows = Vec::new();
        for entry in plan.map.entries() {
            let at = sources.locate(entry.span);
            if entry.span == diag::Span::default() || is_of_library(&at.file) {
                continue;
            }
            let counts = counted.of_step(entry);
            let definition = entry.statement.as_ref().and_then(|statement| place(&statement.location));
            rows.push(Row {
                definition: definition.filter(|(file, line)| (file, *line) != (&at.file, at.line)),
                file: at.file,
                line: at.line,
                label: label(entry),
                is_step: true,
                decides: matches!(entry.kind, Kind::Filter | Kind::Parser),
                gap: Gap::of(entry.kind, counts),
                counts,
            });
            rows.extend(expressions(entry, &taken, counts.entered > 0));
        }
        let texts = sources.files().map(|(_, file)| (file.name.clone(), file.text.to_string()));
        let used = |name: &String| {
            rows.iter()
                .any(|row| row.file == *name || row.definition.as_ref().is_some_and(|(file, _)| file == name))
        };
        let texts = texts.filter(|(name, _)| used(name)).collect();
        let config = sources.files().next().map_or_else(String::new, |(_, file)| file.name.clone());
        Coverage { config, rows, rules: Vec::new(), texts, hits: taken.rules }
    }

    /// Adds the rules of a database with the examples that came out at them.
    pub fn add_rules(&mut self, database: &str, rules: impl Iterator<Item = (String, u64)>) {
        for (id, examples) in rules {
            let cases = self.hits.get(&id).copied().unwrap_or_default();
            self.rules.push(RuleRow { database: database.to_owned(), id, cases, examples });
        }
    }

    /// What other cases have taken of the same configuration, in another environment.
    pub fn add(&mut self, other: Coverage) {
        let mut mine: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (index, row) in self.rows.iter().enumerate() {
            mine.entry(row.identity()).or_default().push_back(index);
        }
        for row in other.rows {
            match mine.get_mut(&row.identity()).and_then(VecDeque::pop_front) {
                Some(index) => {
                    if let Some(known) = self.rows.get_mut(index) {
                        known.gap = Gap::of_both(known, &row);
                        known.counts.add(row.counts);
                    }
                }
                None => self.rows.push(row),
            }
        }
        for rule in other.rules {
            let is_same = |known: &&mut RuleRow| known.database == rule.database && known.id == rule.id;
            match self.rules.iter_mut().find(is_same) {
                Some(known) => {
                    known.cases += rule.cases;
                    known.examples = known.examples.max(rule.examples);
                }
                None => self.rules.push(rule),
            }
        }
        for (name, text) in other.texts {
            self.texts.entry(name).or_insert(text);
        }
    }

    /// What is known of each line of a file: of the places where a statement is used, and of where it stands.
    pub fn lines(&self, file: &str) -> BTreeMap<u32, Line> {
        let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
        for row in &self.rows {
            let here = (row.file == file).then_some(row.line);
            let defined = row.definition.as_ref().filter(|(name, _)| name == file).map(|(_, line)| *line);
            for number in here.into_iter().chain(defined) {
                let line = lines.entry(number).or_default();
                line.entered = line.entered.max(row.counts.entered);
                if let Some(gap) = row.gap {
                    line.gaps.push(format!("{}: {}", row.label, gap.words()));
                }
                if row.decides {
                    line.outcomes.push((row.counts.passed, row.counts.stopped));
                }
            }
        }
        lines
    }
}

/// The counts of steps, those included that nothing is told of.
struct Counted<'c> {
    taken: &'c Taken,
    children: HashMap<Option<StepId>, Vec<&'c Entry>>,
}

impl<'c> Counted<'c> {
    fn of(plan: &'c Plan, taken: &'c Taken) -> Counted<'c> {
        let mut children: HashMap<Option<StepId>, Vec<&Entry>> = HashMap::new();
        for entry in plan.map.entries() {
            children.entry(entry.parent).or_default().push(entry);
        }
        Counted { taken, children }
    }

    fn told(&self, entry: &Entry) -> Counts {
        self.taken.steps.get(&entry.id).copied().unwrap_or_default()
    }

    fn of_step(&self, entry: &Entry) -> Counts {
        let told = self.told(entry);
        let entered = match entry.kind {
            _ if told.entered > 0 => told.entered,
            // Nobody is told of these: somebody came there when somebody came to what is in them.
            Kind::Fork | Kind::Join | Kind::Branch | Kind::Channel => {
                let inner = self.children.get(&Some(entry.id)).into_iter().flatten();
                inner.map(|child| self.of_step(child).entered).max().unwrap_or_default()
            }
            Kind::Destination => self.arrived(entry),
            _ => 0,
        };
        Counts { entered, ..told }
    }

    /// How many came to a destination that several paths share, which is told of one of them: as many as came
    /// through the step before.
    fn arrived(&self, entry: &Entry) -> u64 {
        let mut siblings = self.children.get(&entry.parent).into_iter().flatten();
        let before = siblings.rfind(|other| other.index + 1 == entry.index);
        match before {
            Some(before) if before.kind == Kind::Destination => self.of_step(before).entered,
            Some(before) => {
                let counts = self.of_step(before);
                counts.passed + counts.skipped
            }
            None => {
                let parent = entry.parent.and_then(|id| self.taken.steps.get(&id));
                parent.map_or(0, |counts| counts.entered)
            }
        }
    }
}

/// The statements and conditions of a step that is a block of FilterX.
fn expressions(entry: &Entry, taken: &Taken, is_reached: bool) -> Vec<Row> {
    let places = entry.block.iter().flat_map(|block| block.places());
    let places = places.filter(|place| place.role != Role::Frame);
    let row = |written: &filterx::Written| {
        let (file, line) = place(&written.location)?;
        let counts = taken.expressions.get(&(entry.id, written.location.to_string()));
        let counts = counts.copied().unwrap_or_default();
        let decides = written.role == Role::Condition;
        let gap = match decides {
            // That is said of the block.
            _ if !is_reached => None,
            true => Gap::of(Kind::Filter, counts),
            false => (counts.entered == 0).then_some(Gap::NeverReached),
        };
        let label = written.text.chars().take(LABEL_CHARS_MAX).collect();
        Some(Row { file, line, label, is_step: false, decides, counts, gap, definition: None })
    };
    let mut rows: Vec<Row> = places.filter_map(row).collect();
    rows.sort_by_key(|row| row.line);
    rows
}

fn label(entry: &Entry) -> String {
    match (entry.kind, &entry.statement) {
        (Kind::Fork | Kind::Join, Some(statement)) => statement.rule.clone(),
        _ => entry.label(),
    }
}

fn is_of_library(file: &str) -> bool {
    file.starts_with(library::FOLDER) || file.starts_with(THEIRS)
}

/// `file:line:column`
fn place(location: &str) -> Option<(String, u32)> {
    let (rest, _) = location.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?))
}
