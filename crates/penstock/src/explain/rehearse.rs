//! Messages run through a configuration that is not in effect: nothing is opened, nothing is delivered.

use super::render;
use super::tree::{Fate, Fates};
use crate::configuration::Configuration;
use control::cli::ExplainArgs;
use engine::compile::{Existing, Plan, PlannedSource};
use engine::watch::inquiry::{Happened, Story, TEXT_BYTES_MAX};
use engine::watch::looks::Looks;
use engine::watch::rehearsal::{Input, Rehearsal};
use record::{Context, Peer, Stamp};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use template::Identity;

/// Messages of one input that are explained.
const LINES_MAX: usize = 1000;
/// `$TRANSPORT` of a message that did not come over any.
pub const TRANSPORT: &str = "rehearsal";

pub fn run(args: &ExplainArgs, config: &Path) -> Result<String, String> {
    let mut configuration = Configuration::read(config);
    let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
    let identity = Identity::new(&host);
    let plan = configuration.compile(&identity, &Existing::tried());
    let plan = plan.ok_or_else(|| configuration.report())?;
    let lines = lines_of(args)?;
    let case = Case { source: args.source.as_deref(), from: args.from, json: args.json };
    tried(&plan, &identity, &lines, &case)
}

/// One line, as JSON, in the configuration that the file has now.
pub fn of_line(config: &Path, source: Option<&str>, line: &str) -> Result<String, String> {
    let mut configuration = Configuration::read(config);
    let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
    let identity = Identity::new(&host);
    let plan = configuration.compile(&identity, &Existing::tried());
    let plan = plan.ok_or_else(|| configuration.report())?;
    let case = Case { source, from: None, json: true };
    tried(&plan, &identity, &[line.as_bytes().to_vec()], &case)
}

/// As what lines come, and for whom they are told.
struct Case<'a> {
    source: Option<&'a str>,
    from: Option<IpAddr>,
    json: bool,
}

fn tried(plan: &Plan, identity: &Identity, lines: &[Vec<u8>], case: &Case<'_>) -> Result<String, String> {
    let source = source_of(plan, case.source)?;
    let mut rehearsal = Rehearsal::of(source, identity).ok_or_else(|| makes_its_own(source))?;
    let looks = Looks::nowhere(TEXT_BYTES_MAX);
    let mut stories = Vec::new();
    for line in lines {
        let context = context(source, identity, case.from.map(|from| SocketAddr::new(from, 0)), TRANSPORT);
        let input = Input { text: line, context, received: Stamp::now(0) };
        stories.extend(rehearsal.message(&input, &looks));
    }
    Ok(render(&stories, &plan.map, &fates(&stories), case.json))
}

pub fn makes_its_own(source: &PlannedSource) -> String {
    format!("{} ({}) makes its messages itself, it reads no text", source.id, source.driver.driver)
}

/// Destinations that would get something have not got it.
pub fn fates(stories: &[Story]) -> Fates {
    let told = stories.iter().flat_map(|story| &story.told);
    let queued = told.filter(|told| matches!(told.what, Happened::Queued { .. }));
    queued.filter_map(|told| Some((told.step.as_ref()?.0, Fate::Rehearsed))).collect()
}

/// The source that is named; the only one where none is.
pub fn source_of<'p>(plan: &'p Plan, named: Option<&str>) -> Result<&'p PlannedSource, String> {
    let fits = |source: &&PlannedSource| named.is_none_or(|name| source.group == name || source.id == name);
    let mut fitting = plan.sources.iter().filter(fits);
    let ids = || plan.sources.iter().map(|source| source.id.as_str()).collect::<Vec<_>>().join(", ");
    match (fitting.next(), fitting.next()) {
        (Some(source), None) => Ok(source),
        // The drivers of one statement have the same log paths; the first is as good as any.
        (Some(source), Some(_)) if named.is_some() => Ok(source),
        (Some(_), Some(_)) => Err(format!("say which source it comes to: --source with one of {}", ids())),
        (None, _) => match named {
            Some(name) => Err(format!("no log path uses a source `{name}`, there are {}", ids())),
            None => Err("no log path of this configuration has a source".to_owned()),
        },
    }
}

fn lines_of(args: &ExplainArgs) -> Result<Vec<Vec<u8>>, String> {
    let Some(path) = &args.input else {
        return Ok(args.line.iter().map(|line| line.clone().into_bytes()).collect());
    };
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_end(&mut bytes).map(drop),
        false => std::fs::read(path).map(|read| bytes = read),
    };
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    match lines.len() {
        0 => Err(format!("{} has no messages", path.display())),
        count if count > LINES_MAX => Err(format!(
            "{} has {count} messages, at most {LINES_MAX} are explained at a time",
            path.display()
        )),
        _ => Ok(lines),
    }
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
