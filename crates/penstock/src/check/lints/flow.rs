//! Where messages go: destinations that lead back to their own source, and those that hold others.

use super::Lints;
use crate::outline::{Node, Outline};
use conf_syntax::{Config, LogItem, LogPath, ObjectKind, Statement};
use diag::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Destinations that send to another machine.
const REMOTE: [&str; 8] = ["network", "syslog", "tcp", "tcp6", "http", "kafka", "elasticsearch-http", "relp"];
/// Names of this machine.
const HERE: [&str; 6] = ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "localhost.localdomain"];

pub fn look(outline: &Outline, config: &Config, lints: &mut Lints<'_>) {
    circles(outline, config, lints);
    for statement in &config.items {
        if let Statement::Log(path) = statement {
            holds(path, outline, lints);
        }
    }
}

/// Something that messages are sent to or written to, and come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Endpoint {
    Port(&'static str, u16),
    /// Of a destination, macros may stand in the path.
    File(String),
    /// What `wildcard-file()` reads: files of a folder, or below it, whose names end so.
    Files {
        folder: String,
        is_deep: bool,
        end: String,
    },
}

impl Endpoint {
    /// What is written there comes in again here.
    fn gets(&self, written: &Endpoint) -> bool {
        let (Endpoint::Files { folder, is_deep, end }, Endpoint::File(path)) = (self, written) else {
            return self == written;
        };
        let Some(inside) = path.strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/')) else {
            return false;
        };
        inside.ends_with(end.as_str()) && (*is_deep || !inside.contains('/'))
    }
}

fn circles(outline: &Outline, config: &Config, lints: &mut Lints<'_>) {
    let listens: BTreeMap<&str, BTreeSet<Endpoint>> =
        outline.sources.iter().map(|(name, node)| (name.as_str(), places(node, false))).collect();
    let writes: BTreeMap<&str, BTreeSet<Endpoint>> =
        outline.destinations.iter().map(|(name, node)| (name.as_str(), places(node, true))).collect();
    // By destination, the sources of its paths.
    let mut fed_by: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in &outline.paths {
        // What is filtered may be what comes back.
        let mut is_filtered = false;
        path.node
            .each(&mut |node| is_filtered |= matches!(node.kind, "filter" | "filterx" | "case" | "parser"));
        if is_filtered {
            continue;
        }
        path.node.each(&mut |node| {
            if node.kind == "destination" && !node.name.is_empty() {
                fed_by.entry(&node.name).or_default().extend(path.sources.iter().map(String::as_str));
            }
        });
    }
    for statement in &config.items {
        let Statement::Destination(object) = statement else { continue };
        let name = object.name.text.as_str();
        let (Some(places), Some(sources)) = (writes.get(name), fed_by.get(name)) else { continue };
        let back = sources.iter().find(|source| {
            listens
                .get(**source)
                .is_some_and(|listens| listens.iter().any(|place| places.iter().any(|to| place.gets(to))))
        });
        if let Some(source) = back {
            let text =
                format!("what destination `{name}` gets comes back to source `{source}`, which it is from");
            let finding = Diagnostic::warning("L0105", text, object.name.span);
            lints.add(finding.help("send it elsewhere, or filter what comes back"));
        }
    }
}

/// Where a statement's drivers send to on this machine, or get from.
fn places(node: &Node, is_destination: bool) -> BTreeSet<Endpoint> {
    let mut places = BTreeSet::new();
    node.each(&mut |driver| {
        if driver.kind == "driver" {
            places.extend(place(driver, is_destination));
        }
    });
    places
}

fn place(driver: &Node, is_destination: bool) -> Option<Endpoint> {
    let name = driver.text.trim_end_matches("()");
    let given = |name: &str| driver.facts.iter().find(|fact| fact.name == name);
    let value = |name: &str| given(name).map(|fact| fact.value.trim_matches('"').to_owned());
    match name {
        "network" | "syslog" | "tcp" | "udp" | "tcp6" | "udp6" => {
            let transport = value("transport").unwrap_or_default().to_lowercase();
            let is_udp = name.starts_with("udp") || transport.contains("udp");
            let host = value("host");
            let is_here = host.is_none_or(|host| HERE.contains(&host.as_str()));
            if is_destination && !is_here {
                return None;
            }
            let port = value("port").or_else(|| value("destport")).and_then(|port| port.parse().ok());
            let usual = if name == "syslog" { None } else { Some(514) };
            Some(Endpoint::Port(if is_udp { "udp" } else { "tcp" }, port.or(usual)?))
        }
        "file" | "pipe" | "unix-stream" | "unix-dgram" => {
            let path = value("path")?;
            (is_destination || !path.contains('$')).then_some(Endpoint::File(path))
        }
        "wildcard-file" if !is_destination => {
            let folder = value("base-dir")?.trim_end_matches('/').to_owned();
            let end = value("filename-pattern")?.rsplit(['*', '?']).next().unwrap_or_default().to_owned();
            let is_deep = value("recursive").is_some_and(|word| word == "yes");
            Some(Endpoint::Files { folder, is_deep, end })
        }
        _ => None,
    }
}

/// A path with flow-control and several destinations, of which one may stand still for long.
fn holds(path: &LogPath, outline: &Outline, lints: &mut Lints<'_>) {
    if !path.flags.iter().any(|flag| flag.is("flow-control")) {
        return;
    }
    let mut found: Vec<(&str, Span)> = Vec::new();
    for item in &path.items {
        if let LogItem::Reference(reference) = item
            && reference.kind == ObjectKind::Destination
        {
            found.push((&reference.name.text, reference.span));
        }
    }
    if let [(name, span)] = found.as_slice() {
        return holds_its_others(name, *span, outline, lints);
    }
    let may_hold = |name: &str| outline.destinations.get(name).is_some_and(is_remote_without_disk);
    let risky: Vec<(&str, Span)> = found.iter().copied().filter(|(name, _)| may_hold(name)).collect();
    if let [(name, span), ..] = risky.as_slice() {
        let others: Vec<&str> = found.iter().map(|(name, _)| *name).filter(|other| other != name).collect();
        let text = format!(
            "while the server of `{name}` is down, {} nothing either: flags(flow-control)",
            get(&others, "")
        );
        let help = "give it a disk-buffer(), or a log path of its own";
        lints.add(Diagnostic::warning("L0109", text, *span).help(help));
    }
}

/// `d_a gets`, `d_a, d_b get`
fn get(names: &[&str], place: &str) -> String {
    format!("{}{place} {}", names.join(", "), if names.len() == 1 { "gets" } else { "get" })
}

/// The drivers of one destination wait for each other too.
fn holds_its_others(name: &str, span: Span, outline: &Outline, lints: &mut Lints<'_>) {
    let Some(node) = outline.destinations.get(name) else { return };
    let drivers = || node.children.iter().filter(|child| child.kind == "driver");
    let Some(risky) = drivers().find(|driver| is_remote_without_disk(driver)) else { return };
    let others: Vec<&str> =
        drivers().filter(|driver| !std::ptr::eq(*driver, risky)).map(|driver| driver.text.as_str()).collect();
    if !others.is_empty() {
        let text = format!(
            "while the server of {} in `{name}` is down, {} nothing either: flags(flow-control)",
            risky.text,
            get(&others, " there")
        );
        let help = "give it a disk-buffer(), or a destination and a log path of its own";
        lints.add(Diagnostic::warning("L0109", text, span).help(help));
    }
}

fn is_remote_without_disk(node: &Node) -> bool {
    let mut is_risky = false;
    node.each(&mut |driver| {
        let name = driver.text.trim_end_matches("()");
        let has_disk = driver.facts.iter().any(|fact| fact.name.starts_with("disk-buffer"));
        let transport = driver.facts.iter().find(|fact| fact.name == "transport");
        let is_udp = transport.is_some_and(|fact| fact.value.to_lowercase().contains("udp"));
        is_risky |= driver.kind == "driver" && REMOTE.contains(&name) && !has_disk && !is_udp;
    });
    is_risky
}
