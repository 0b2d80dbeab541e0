//! A copy of a configuration that touches nothing of what the original does: its sources listen at free ports
//! of this machine, its destinations write to /dev/null or to a sink.

use super::call;
use super::placement::{self, Earlier};
use crate::configuration::Configuration;
use crate::doctor::asked_of_the_system;
use conf_schema::Context;
use engine::compile::{Configured, Existing};
use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use stdio::CommandError;
use template::Identity;

/// Where the copy's destinations write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outgoing {
    #[default]
    Nowhere,
    /// Over TCP to this port of this machine, those that go over a network in the original only, or all.
    Sink { port: u16, has_all: bool },
}

/// Stands for the port of the sink.
const SINK: u16 = 9;

/// What is different in a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// `--worker-threads`.
    pub workers: Option<usize>,
    /// Options of the source that gets the messages.
    pub source: String,
    pub outgoing: Outgoing,
    /// Options of destinations over the network.
    pub network: String,
    /// Global options.
    pub globals: String,
    /// The number of a filter that stands earlier, see [`Copy::earlier`].
    pub earlier: Option<usize>,
}

pub struct Copy {
    text: String,
    /// What is to stand where, in order.
    places: Vec<Replacement>,
    earlier: Vec<Earlier>,
    /// The statement that gets the messages.
    source: String,
    port: u16,
    system: Vec<String>,
    folder: PathBuf,
}

/// What stands in the place of a driver.
enum Driver {
    /// The source that gets the messages.
    Measured(String),
    Source(String),
    Destination {
        nowhere: String,
        network: String,
        is_network: bool,
    },
}

struct Replacement {
    range: Range<usize>,
    driver: Driver,
    /// `source s_net (relay.conf:2)`
    words: String,
}

impl Copy {
    /// `source` is the name of the statement that gets the messages, over so many connections.
    pub fn of(path: &Path, source: Option<&str>, connections: u16) -> Result<Copy, CommandError> {
        let mut first = Configuration::look(path);
        if first.compile(&Identity::new("localhost"), &Existing::tried()).is_none() {
            return Err(first.report().into());
        }
        // With everything expanded it stands in one text.
        let text = first.config().preprocessed.clone();
        let mut whole = Configuration::read_text("the copy", &text);
        let plan = whole.compile(&Identity::new("localhost"), &Existing::tried());
        let plan = plan.ok_or_else(|| whole.report())?;
        let group = |driver: &Configured| {
            let source = plan.sources.iter().find(|planned| planned.span == driver.span);
            let destination = plan.destinations.iter().find(|planned| planned.span == driver.span);
            let destination = destination.and_then(|planned| planned.id.rsplit_once('#'));
            let name = source.map(|planned| planned.group.as_str()).or(destination.map(|(name, _)| name));
            name.unwrap_or_default().to_owned()
        };
        // Both have the same drivers; people know the places of the first.
        let known = (first.drivers.len() == whole.drivers.len()).then_some(&first.drivers);
        let words = |number: usize, driver: &Configured| {
            let at = known.and_then(|known| known.get(number));
            let at = at.map(|driver| first.parsed.sources.locate(driver.span));
            let place =
                at.map(|at| format!(" ({}:{})", at.file.rsplit('/').next().unwrap_or_default(), at.line));
            let kind = driver.context.as_str();
            format!("{kind} {}{}", group(driver), place.unwrap_or_default())
        };
        let is_meant = |driver: &&Configured| {
            driver.context == Context::Source
                && reads_network(driver)
                && source.is_none_or(|name| group(driver) == name)
        };
        let Some((measured, source)) =
            whole.drivers.iter().find(is_meant).map(|driver| (driver.span, group(driver)))
        else {
            return Err(match source {
                Some(name) => format!("there is no source `{name}` that takes text over the network").into(),
                None => "no source takes text over the network".into(),
            });
        };
        let port = free_port()?;
        let mut places = Vec::new();
        for (number, driver) in whole.drivers.iter().enumerate() {
            let range = driver.span.start as usize..driver.span.end as usize;
            let words = words(number, driver);
            let text_of =
                text.get(range.clone()).ok_or("the configuration cannot be copied: a driver of a block")?;
            let driver = match (driver.context, driver.component.name) {
                (Context::Source, "internal") => continue,
                (Context::Source, name) if driver.span == measured => {
                    Driver::Measured(call::source(text_of, name, port, connections))
                }
                (Context::Source, name) => Driver::Source(call::source(text_of, name, free_port()?, 1)),
                // One destination is not there twice: each has a number.
                (_, name) => Driver::Destination {
                    nowhere: call::nowhere(text_of, places.len()),
                    network: call::network(text_of, name, places.len(), SINK),
                    is_network: writes_network(driver),
                },
            };
            places.push(Replacement { range, driver, words });
        }
        places.sort_by_key(|place| place.range.start);
        let system = asked_of_the_system(&first);
        let earlier = placement::of(&first, &whole);
        Ok(Copy { text, places, earlier, source, port, system, folder: std::env::temp_dir() })
    }

    /// The same, with what it writes below another folder than the system's for temporary files.
    pub fn below(self, folder: Option<PathBuf>) -> Copy {
        Copy { folder: folder.unwrap_or(self.folder), ..self }
    }

    /// What it writes is below this one.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The source statement that gets the messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Filters that could stand earlier in their log path.
    pub fn earlier(&self) -> &[Earlier] {
        &self.earlier
    }

    /// A destination of the original goes over the network.
    pub fn has_network(&self) -> bool {
        self.places.iter().any(|place| matches!(place.driver, Driver::Destination { is_network: true, .. }))
    }

    /// Where the messages are to go.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What the system gives less of than is asked for, with the command that changes it.
    pub fn system(&self) -> Vec<String> {
        self.system.clone()
    }

    /// What stands in the configuration where this option is given to the source that gets the messages, or
    /// to destinations over the network: each driver with its place, as it would have to be.
    pub fn lines(&self, is_source: bool, option: &str) -> Vec<(String, String)> {
        let is_meant = |driver: &Driver| match driver {
            Driver::Measured(_) => is_source,
            Driver::Source(_) => false,
            Driver::Destination { is_network, .. } => *is_network && !is_source,
        };
        let meant = self.places.iter().filter(|place| is_meant(&place.driver));
        let line = |place: &Replacement| {
            let text = self.text.get(place.range.clone()).unwrap_or_default();
            (place.words.clone(), call::with(text, option))
        };
        meant.map(line).collect()
    }

    /// The log path in which a filter stands earlier.
    pub fn path_of(&self, earlier: usize) -> String {
        let Some(earlier) = self.earlier.get(earlier) else { return String::new() };
        let mut path = self.text.get(earlier.path.clone()).unwrap_or_default().to_owned();
        for (range, with) in earlier.edits(&self.text).into_iter().rev() {
            let begin = range.start.saturating_sub(earlier.path.start);
            let place = begin..begin + range.len();
            if path.get(place.clone()).is_some() {
                path.replace_range(place, &with);
            }
        }
        path
    }

    /// The copy with what is different in this variant.
    pub fn text(&self, variant: &Variant) -> String {
        let earlier = variant.earlier.and_then(|number| self.earlier.get(number));
        let mut edits: Vec<(Range<usize>, String)> =
            self.places.iter().map(|place| (place.range.clone(), place.driver.text(variant))).collect();
        edits.extend(earlier.into_iter().flat_map(|earlier| earlier.edits(&self.text)));
        edits.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(self.text.len() + 256);
        let mut at = 0;
        for (range, text) in edits {
            out.push_str(self.text.get(at..range.start).unwrap_or_default());
            out.push_str(&text);
            at = range.end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        // The last one counts: nobody is to be in the way of the running program's.
        out.push_str("\noptions { console(port(0)); };\n");
        if !variant.globals.is_empty() {
            out.push_str(&format!("options {{ {} }};\n", variant.globals));
        }
        out
    }
}

impl Driver {
    fn text(&self, variant: &Variant) -> String {
        match self {
            Driver::Measured(text) => call::with(text, &variant.source),
            Driver::Source(text) => text.clone(),
            Driver::Destination { nowhere, network, is_network } => match variant.outgoing {
                Outgoing::Sink { port, has_all } if *is_network || has_all => {
                    let network = network.replacen(&format!("port({SINK})"), &format!("port({port})"), 1);
                    call::with(&network, &variant.network)
                }
                _ => nowhere.clone(),
            },
        }
    }
}

fn reads_network(driver: &Configured) -> bool {
    matches!(driver.component.name, "network" | "syslog" | "tcp" | "tcp6" | "udp" | "udp6")
}

fn writes_network(driver: &Configured) -> bool {
    matches!(driver.component.name, "network" | "syslog" | "tcp" | "tcp6")
}

fn free_port() -> Result<u16, CommandError> {
    let bound = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    Ok(bound.map(|address| address.port()).map_err(|error| format!("no port is free: {error}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_touches_nothing_of_the_original() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.conf");
        let text = "@version: 4.11\nsource s { network(port(514) flags(no-parse)); unix-dgram(\"/dev/log\"); };\n\
             destination d { network(\"central.example.com\" port(601) template(\"$MSG\\n\")); file(\"/var/log/x\"); };\n\
             log { source(s); destination(d); };\n";
        std::fs::write(&path, text).expect("a file");
        let copy = Copy::of(&path, None, 4).expect("a copy");
        let variant = Variant { source: "log-fetch-limit(7)".to_owned(), ..Variant::default() };
        let text = copy.text(&variant);
        for gone in ["port(514)", "/dev/log", "central", "/var/log/x"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        assert!(text.contains("flags(no-parse) log-fetch-limit(7))"), "{text}");
        let lines = copy.lines(true, "log-fetch-limit(7)");
        let line = (
            "source s (x.conf:2)".to_owned(),
            "network(port(514) flags(no-parse) log-fetch-limit(7))".to_owned(),
        );
        assert_eq!(lines, [line]);
        let lines = copy.lines(false, "so-sndbuf(9)");
        assert!(
            matches!(&lines[..], [(place, line)] if place == "destination d (x.conf:3)" && line.ends_with(" so-sndbuf(9))")),
            "{lines:?}"
        );
        assert!(
            text.contains("file(\"/dev/null\" persist-name(\"copy-2\") template(\"$MSG\\n\"))"),
            "{text}"
        );
        assert!(!copy.text(&Variant::default()).contains("log-fetch-limit"));
        let variant = Variant { globals: "use-dns(no);".to_owned(), ..Variant::default() };
        assert!(copy.text(&variant).ends_with("options { use-dns(no); };\n"));
        let sink = |has_all| {
            let outgoing = Outgoing::Sink { port: 7, has_all };
            copy.text(&Variant { outgoing, network: "so-sndbuf(9)".to_owned(), ..Variant::default() })
        };
        assert!(copy.has_network());
        let shown = "network(\"127.0.0.1\" port(7) transport(\"tcp\") persist-name(\"copy-2\") template(\"$MSG\\n\") so-sndbuf(9))";
        assert!(sink(false).contains(shown) && sink(false).contains("/dev/null"), "{}", sink(false));
        assert!(!sink(true).contains("/dev/null"), "{}", sink(true));
        assert!(Copy::of(&path, Some("other"), 4).is_err_and(|error| error.said().contains("`other`")));
    }
}
