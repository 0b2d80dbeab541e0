//! `explain --file PATH:LINE`: which path wrote a line of an output. The line's own text is run through the
//! configuration; where that gives the same line again, its way is the answer.

use super::rehearse::{TRANSPORT, context, fates, source_of};
use crate::configuration::Configuration;
use control::cli::{ExplainArgs, FileLine};
use engine::compile::{Existing, Plan, PlannedSource};
use engine::plan_map::Entry;
use engine::program::{Op, Step};
use engine::watch::Kind;
use engine::watch::inquiry::{Happened, Story, TEXT_BYTES_MAX};
use engine::watch::looks::Looks;
use engine::watch::rehearsal::{Input, Rehearsal};
use record::Stamp;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use stdio::CommandError;
use template::Identity;

/// Priorities that a message may have: most outputs do not have it any more.
const PRIORITIES: u8 = 192;
/// That of most messages, tried first: user.notice.
const USUAL: u8 = 13;

pub fn run(args: &ExplainArgs, config: &Path) -> Result<String, CommandError> {
    let FileLine { path, line: number } = args.file.as_ref().ok_or("no line of a file is named")?;
    let (number, line) = (*number, read(path, *number)?);
    let mut configuration = Configuration::look(config);
    let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
    let identity = Identity::new(&host);
    let plan = configuration.compile(&identity, &Existing::tried()).ok_or_else(|| configuration.report())?;
    let (path, writers) = (spellings(path).into_iter().map(|path| (writers(&plan, &path), path)))
        .find_map(|(found, path)| (!found.is_empty()).then_some((path, found)))
        .ok_or_else(|| format!("no destination of this configuration writes to {path}"))?;
    let path = path.as_str();
    let sources: Vec<&PlannedSource> = match &args.source {
        Some(name) => vec![source_of(&plan, Some(name))?],
        None => plan.sources.iter().collect(),
    };
    for source in sources {
        let Some(mut rehearsal) = Rehearsal::of(source, &plan.identity) else { continue };
        let wanted = Wanted { args, path, line: &line, source, identity: &plan.identity };
        if let Some((stories, priority)) = wanted.find(&mut rehearsal) {
            let (veil, fates) = (configuration.veil(), fates(&stories));
            let shown = veil.over(&super::render(&stories, &plan.map, &fates, args.json, &veil));
            if args.json {
                return Ok(shown);
            }
            let mut out = format!("line {number} of {path}: this message gives it\n");
            if let Some(priority) = priority {
                let _ = writeln!(
                    out,
                    "the line has no priority: <{priority}> was the first of all with which it comes out"
                );
            }
            let makers = makers(&plan, source);
            if !makers.is_empty() {
                let makers = makers.join(", ");
                let _ = writeln!(out, "unless it is one that was made here and not received, by {makers}");
            }
            out.push_str(&shown);
            return Ok(out);
        }
    }
    if args.json {
        return Err(format!("the text of line {number} of {path} does not give that line again").into());
    }
    Ok(paths_only(&plan, path, number, &writers))
}

/// How a destination may name this file: as it is named here, from the root on, and without symbolic links.
fn spellings(path: &str) -> Vec<String> {
    let text = |path: std::path::PathBuf| path.to_str().map(str::to_owned);
    let absolute = std::path::absolute(path).ok().and_then(text);
    let real = std::fs::canonicalize(path).ok().and_then(text);
    let mut all: Vec<String> = [Some(path.to_owned()), absolute, real].into_iter().flatten().collect();
    all.dedup();
    all
}

fn read(path: &str, number: usize) -> Result<Vec<u8>, CommandError> {
    let failed = |error: std::io::Error| format!("cannot read {path}: {error}");
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(format!("{path} is no regular file").into());
    }
    let mut reader = BufReader::new(std::fs::File::open(path).map_err(failed)?);
    for _ in 1..number {
        if reader.skip_until(b'\n').map_err(failed)? == 0 {
            break;
        }
    }
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).map_err(failed)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.is_empty() {
        Err(format!("{path} has no line {number}, or it is empty").into())
    } else {
        Ok(line)
    }
}

/// Destinations that may write to a file: their ids, and how the file is named there.
fn writers(plan: &Plan, path: &str) -> Vec<(String, String)> {
    let named = plan.destinations.iter().map(|d| (d.id.clone(), d.destination.described().1));
    named.filter(|(_, name)| fits(name, path)).collect()
}

/// Parsers of a source that make messages of their own, which may have given the line too.
fn makers(plan: &Plan, source: &PlannedSource) -> Vec<String> {
    fn of(steps: &[Step], plan: &Plan, found: &mut Vec<String>) {
        for step in steps.iter().filter(|step| step.is_stateful()) {
            match &step.op {
                Op::Fork(inner) | Op::Join(inner) => {
                    inner.list.iter().for_each(|branch| of(&branch.steps, plan, found));
                }
                _ => found.extend(plan.map.entry(step.id).map(Entry::label)),
            }
        }
    }
    let program = &source.program;
    let mut found = Vec::new();
    of(&program.source_steps, plan, &mut found);
    program.branches.list.iter().for_each(|branch| of(&branch.steps, plan, &mut found));
    found.sort();
    found.dedup();
    found
}

/// A name of a file with macros may stand for `path`.
fn fits(name: &str, path: &str) -> bool {
    let mut literals = vec![String::new()];
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '$' {
            literals.last_mut().into_iter().for_each(|literal| literal.push(c));
            continue;
        }
        match rest.peek() {
            Some('{') => rest.by_ref().take_while(|c| *c != '}').for_each(drop),
            Some('(') => {
                let mut depth = 0;
                for c in rest.by_ref() {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => while rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_').is_some() {},
        }
        literals.push(String::new());
    }
    let [first, middle @ .., last] = literals.as_slice() else { return name == path };
    let Some(mut left) = path.strip_prefix(first.as_str()).and_then(|left| left.strip_suffix(last.as_str()))
    else {
        return false;
    };
    for literal in middle {
        let Some((_, behind)) = left.split_once(literal.as_str()) else { return false };
        left = behind;
    }
    true
}

struct Wanted<'w> {
    args: &'w ExplainArgs,
    path: &'w str,
    line: &'w [u8],
    source: &'w PlannedSource,
    identity: &'w Identity,
}

impl Wanted<'_> {
    /// A message whose output is the line, and the priority that was put in front of it.
    fn find(&self, rehearsal: &mut Rehearsal) -> Option<(Vec<Story>, Option<u8>)> {
        if let Some(stories) = self.try_one(rehearsal, self.line) {
            return Some((stories, None));
        }
        let all = (0..PRIORITIES).filter(|priority| *priority != USUAL);
        std::iter::once(USUAL).chain(all).find_map(|priority| {
            let text = [format!("<{priority}>").as_bytes(), self.line].concat();
            Some((self.try_one(rehearsal, &text)?, Some(priority)))
        })
    }

    fn try_one(&self, rehearsal: &mut Rehearsal, text: &[u8]) -> Option<Vec<Story>> {
        let looks = Looks::nowhere(self.line.len().max(TEXT_BYTES_MAX) + 2);
        let from = self.args.from.map(|from| SocketAddr::new(from, 0));
        let context = context(self.source, self.identity, from, TRANSPORT);
        rehearsal.begin_anew();
        let stories = rehearsal.message(&Input { text, context, received: Stamp::now(0) }, &looks);
        let told = stories.iter().flat_map(|story| &story.told);
        let gives = |what: &Happened| match what {
            Happened::Queued { name, output, .. } => {
                name == self.path && output.kept.strip_suffix(b"\n").unwrap_or(&output.kept) == self.line
            }
            _ => false,
        };
        told.into_iter().any(|told| gives(&told.what)).then_some(stories)
    }
}

/// All that is known without the message: who writes to the file.
fn paths_only(plan: &Plan, path: &str, number: usize, writers: &[(String, String)]) -> String {
    let mut out = format!(
        "line {number} of {path}: its text does not give that line again (the template of the destination leaves \
         something out, or the message was changed on its way). These write to the file:\n"
    );
    for entry in plan.map.entries().filter(|entry| entry.kind == Kind::Destination) {
        let label = entry.label();
        let Some((_, name)) = writers.iter().find(|(id, _)| label.strip_prefix("destination ") == Some(id))
        else {
            continue;
        };
        let root = plan.map.way_up(entry.id).last();
        let root = root.map_or_else(String::new, Entry::label);
        let _ = writeln!(out, "  {root}: {label}, file {name}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_with_macros_stand_for_paths() {
        for (name, path, expected) in [
            ("/var/log/all", "/var/log/all", true),
            ("/var/log/all", "/var/log/al", false),
            ("/var/log/$HOST/x", "/var/log/web/x", true),
            ("/var/log/${HOST}/$(lowercase $(echo $PROGRAM)).log", "/var/log/web/app.log", true),
            ("/var/log/${HOST}/$PROGRAM.log", "/var/log/web.log", false),
            ("/var/$YEAR.$MONTH/a", "/var/2026.11/b", false),
        ] {
            assert_eq!(fits(name, path), expected, "{name} {path}");
        }
    }
}
