//! Messages run through a configuration that is not in effect: nothing is opened, nothing is delivered.

use super::render;
use super::tree::{Fate, Fates};
use crate::configuration::Configuration;
use crate::subject::secrets::Veil;
use control::Refusal;
use control::cli::ExplainArgs;
use engine::compile::{Existing, Plan, PlannedSource};
use engine::watch::inquiry::{Happened, Story, TEXT_BYTES_MAX};
use engine::watch::looks::Looks;
use engine::watch::rehearsal::{Input, Rehearsal};
use record::{Context, Peer, Stamp};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use stdio::CommandError;
use template::Identity;

/// Messages of one input that are explained.
const LINES_MAX: usize = 1000;
/// `$TRANSPORT` of a message that did not come over any.
pub const TRANSPORT: &str = "rehearsal";

pub fn run(args: &ExplainArgs, config: &Path) -> Result<String, CommandError> {
    let mut configuration = Configuration::look(config);
    let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
    let identity = Identity::new(&host);
    let plan = configuration.compile(&identity, &Existing::tried());
    let plan = plan.ok_or_else(|| configuration.report())?;
    let inputs = inputs_of(args)?;
    let max = plan.globals.size("log-msg-size").unwrap_or(u64::MAX);
    for (number, (text, came)) in inputs.iter().enumerate() {
        // What was recorded is as its source has cut it.
        if let Some(note) = came.received.is_none().then(|| uncut(text, max)).flatten() {
            stdio::err!("message {}: {note}", number + 1);
        }
    }
    let veil = configuration.veil();
    Ok(veil.over_answer(tried(&plan, &inputs, args.json, &veil))?)
}

/// What a source would make more messages of, or a shorter one. Here each line is one message.
fn uncut(text: &[u8], max: u64) -> Option<String> {
    if text.contains(&0) {
        return Some("it has a NUL, at which a source may end a message; here it is one".to_owned());
    }
    (text.len() as u64 > max).then(|| {
        format!(
            "{} bytes, and log-msg-size() is {max} where the source does not say otherwise; nothing is cut here",
            text.len()
        )
    })
}

/// One line, as JSON, in the configuration that the file has now, whose secrets need not be those that are
/// under `veil`.
pub fn of_line(config: &Path, source: Option<&str>, line: &str, veil: &Veil) -> Result<String, Refusal> {
    let mut configuration = Configuration::look(config);
    let veil = veil.and(&configuration.veil());
    let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
    let identity = Identity::new(&host);
    let plan = configuration.compile(&identity, &Existing::tried());
    let plan = plan.ok_or_else(|| veil.over(&configuration.report()))?;
    let came = Came { source: source.map(str::to_owned), from: None, received: None };
    veil.over_answer(tried(&plan, &[(line.as_bytes().to_vec(), came)], true, &veil))
}

/// As what a message comes.
#[derive(Clone)]
struct Came {
    /// A source statement, or one of its drivers.
    source: Option<String>,
    from: Option<SocketAddr>,
    /// `None`: now.
    received: Option<Stamp>,
}

fn tried(plan: &Plan, inputs: &[(Vec<u8>, Came)], json: bool, veil: &Veil) -> Result<String, Refusal> {
    let looks = Looks::nowhere(TEXT_BYTES_MAX);
    let (mut stories, mut rehearsals) = (Vec::new(), BTreeMap::new());
    for (text, came) in inputs {
        let source = source_of(plan, came.source.as_deref())?;
        let rehearsal = match rehearsals.entry(source.id.as_str()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(Rehearsal::of(source, &plan.identity).ok_or_else(|| makes_its_own(source))?)
            }
        };
        let context = context(source, &plan.identity, came.from, TRANSPORT);
        let input = Input { text, context, received: came.received.unwrap_or_else(|| Stamp::now(0)) };
        stories.extend(rehearsal.message(&input, &looks));
    }
    Ok(render(&stories, &plan.map, &fates(&stories), json, veil))
}

pub fn makes_its_own(source: &PlannedSource) -> String {
    format!("{} ({}) makes its messages itself, it reads no text", source.id, source.driver.driver)
}

/// Destinations that would get something have not got it.
pub fn fates(stories: &[Story]) -> Fates {
    let told = stories.iter().flat_map(|story| &story.told);
    let queued = told.filter(|told| matches!(told.what, Happened::Queued { .. }));
    let by_step = queued.filter_map(|told| Some((told.step.as_ref()?.0, Fate::Rehearsed))).collect();
    Fates { by_step, ..Fates::default() }
}

/// The source that is named; the only one where none is.
pub fn source_of<'p>(plan: &'p Plan, named: Option<&str>) -> Result<&'p PlannedSource, Refusal> {
    let fits = |source: &&PlannedSource| named.is_none_or(|name| source.group == name || source.id == name);
    let mut fitting = plan.sources.iter().filter(fits);
    let ids = || plan.sources.iter().map(|source| source.id.as_str()).collect::<Vec<_>>().join(", ");
    match (fitting.next(), fitting.next()) {
        (Some(source), None) => Ok(source),
        // The drivers of one statement have the same log paths; the first is as good as any.
        (Some(source), Some(_)) if named.is_some() => Ok(source),
        (Some(_), Some(_)) => {
            Err(format!("say which source it comes to: --source with one of {}", ids()).into())
        }
        (None, _) => match named {
            Some(name) => Err(format!("no log path uses a source `{name}`, there are {}", ids()).into()),
            None => Err("no log path of this configuration has a source".into()),
        },
    }
}

fn inputs_of(args: &ExplainArgs) -> Result<Vec<(Vec<u8>, Came)>, CommandError> {
    let from = args.from.map(|from| SocketAddr::new(from, 0));
    let came = Came { source: args.source.clone(), from, received: None };
    let Some(path) = args.messages() else {
        return Ok(args.line.iter().map(|line| (line.clone().into_bytes(), came.clone())).collect());
    };
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_end(&mut bytes).map(drop),
        false => std::fs::read(path).map(|read| bytes = read),
    };
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let inputs: Vec<(Vec<u8>, Came)> = match recording::entries(&bytes) {
        Ok(entries) => recorded(entries, &came).map_err(|error| format!("{}: {error}", path.display()))?,
        Err(recording::Damaged::NoRecording) => {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.map(|line| (line.to_vec(), came.clone())).collect()
        }
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    match inputs.len() {
        0 => Err(format!("{} has no messages", path.display()).into()),
        count if count > LINES_MAX => Err(format!(
            "{} has {count} messages, at most {LINES_MAX} are explained at a time",
            path.display()
        )
        .into()),
        _ => Ok(inputs),
    }
}

/// Messages of a recording, as they came but for what the command line says.
fn recorded(
    entries: recording::Entries<'_>,
    said: &Came,
) -> Result<Vec<(Vec<u8>, Came)>, recording::Damaged> {
    let mut inputs = Vec::new();
    for entry in entries {
        let entry = entry?;
        let came = Came {
            source: said.source.clone().or_else(|| Some(entry.source.to_owned())),
            from: said.from.or(entry.peer),
            received: Some(crate::subject::recording::stamp(entry.time)),
        };
        inputs.push((entry.text.to_vec(), came));
    }
    Ok(inputs)
}

/// As what the message comes.
pub fn context(
    source: &PlannedSource,
    identity: &Identity,
    from: Option<SocketAddr>,
    transport: &'static str,
) -> Context {
    let host = from.map_or_else(|| identity.loghost.to_string(), |from| from.ip().to_string());
    let mut context = Context::local(&source.group, &host, transport);
    if let Some(remote) = from {
        let local = SocketAddr::new(IpAddr::from(Ipv4Addr::UNSPECIFIED), 0);
        context.peer = Peer::Inet { remote, local, proxy: None };
    }
    context
}

#[cfg(test)]
mod tests {
    use super::uncut;

    #[test]
    fn what_a_source_would_cut_is_said() {
        assert_eq!(uncut(b"<13>x", 5), None);
        assert!(
            uncut(b"<13>xy", 5).is_some_and(|note| note.starts_with("6 bytes, and log-msg-size() is 5 "))
        );
        assert!(uncut(b"a\0b", 5).is_some_and(|note| note.contains("NUL")));
    }
}
