//! A copy of a configuration that touches nothing of what the original does: its sources listen at free ports
//! of this machine, its destinations write to /dev/null or to a sink.

use super::placement::{self, Earlier};
use crate::configuration::Configuration;
use crate::doctor::asked_of_the_system;
use conf_schema::Context;
use engine::compile::{Configured, Existing};
use std::net::TcpListener;
use std::ops::Range;
use std::path::{Path, PathBuf};
use template::Identity;

/// Options of a source that say how its messages are read: they stay.
const KEPT: [&str; 12] = [
    "flags",
    "tags",
    "keep-hostname",
    "keep-timestamp",
    "use-dns",
    "use-fqdn",
    "default-facility",
    "default-severity",
    "program-override",
    "host-override",
    "log-msg-size",
    "time-zone",
];

/// Where the copy's destinations write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outgoing {
    #[default]
    Nowhere,
    /// Over TCP to this port of this machine, those that go over a network in the original only, or all.
    Sink { port: u16, has_all: bool },
}

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
        number: usize,
        template: String,
        is_network: bool,
    },
}

struct Replacement {
    range: Range<usize>,
    driver: Driver,
}

impl Copy {
    /// `source` is the name of the statement that gets the messages.
    pub fn of(path: &Path, source: Option<&str>) -> Result<Copy, String> {
        let mut first = Configuration::read(path);
        if first.compile(&Identity::new("localhost"), &Existing::tried()).is_none() {
            return Err(first.report());
        }
        // With everything expanded it stands in one text.
        let text = first.config().preprocessed.clone();
        let mut whole = Configuration::read_text("the copy", &text);
        let plan = whole.compile(&Identity::new("localhost"), &Existing::tried());
        let plan = plan.ok_or_else(|| whole.report())?;
        let group = |driver: &Configured| {
            let planned = plan.sources.iter().find(|planned| planned.span == driver.span);
            planned.map(|planned| planned.group.clone()).unwrap_or_default()
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
                Some(name) => format!("there is no source `{name}` that takes text over the network"),
                None => "no source takes text over the network".to_owned(),
            });
        };
        let port = free_port()?;
        let mut places = Vec::new();
        for driver in &whole.drivers {
            let range = driver.span.start as usize..driver.span.end as usize;
            let call =
                text.get(range.clone()).ok_or("the configuration cannot be copied: a driver of a block")?;
            let driver = match (driver.context, driver.component.name) {
                (Context::Source, "internal") => continue,
                (Context::Source, name) if driver.span == measured => {
                    Driver::Measured(as_network(call, name, port))
                }
                (Context::Source, name) => Driver::Source(as_network(call, name, free_port()?)),
                (_, _) => Driver::Destination {
                    // One destination is not there twice.
                    number: places.len(),
                    template: option(call, "template").unwrap_or_default(),
                    is_network: writes_network(driver),
                },
            };
            places.push(Replacement { range, driver });
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
            Driver::Measured(call) => {
                format!("{} {})", call.strip_suffix(')').unwrap_or(call), variant.source)
            }
            Driver::Source(call) => call.clone(),
            Driver::Destination { number, template, is_network } => match variant.outgoing {
                Outgoing::Sink { port, has_all } if *is_network || has_all => format!(
                    "network(\"127.0.0.1\" port({port}) persist-name(\"copy-{number}\") {template} {})",
                    variant.network
                ),
                _ => format!("file(\"/dev/null\" persist-name(\"copy-{number}\") {template})"),
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

/// The same source over TCP at a port of this machine.
fn as_network(call: &str, name: &str, port: u16) -> String {
    let mut kept: Vec<String> = KEPT.into_iter().filter_map(|name| option(call, name)).collect();
    if name == "syslog" {
        let flags = option(call, "flags").and_then(|flags| Some(flags.split_once('(')?.1.to_owned()));
        kept.retain(|option| !option.starts_with("flags"));
        kept.push(format!(
            "flags(syslog-protocol {}",
            flags.map_or(")".to_owned(), |flags| format!(", {flags}"))
        ));
    }
    format!("network(ip(\"127.0.0.1\") port({port}) max-connections(1000) {})", kept.join(" "))
}

/// An option of a call as it is written there.
fn option(call: &str, name: &str) -> Option<String> {
    let written = name.replace('-', "_");
    let at = [name, written.as_str()].into_iter().find_map(|name| {
        let mut found = call.match_indices(name);
        found.find_map(|(at, _)| {
            let before = call.get(..at)?.chars().next_back();
            let is_word = before.is_none_or(|c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '"'));
            let rest = call.get(at + name.len()..)?;
            (is_word && rest.trim_start().starts_with('(')).then_some(at)
        })
    })?;
    let rest = call.get(at..)?;
    let open = rest.find('(')?;
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (place, c) in rest.char_indices().skip_while(|(place, _)| *place < open) {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return rest.get(..=place).map(str::to_owned);
                }
            }
            _ => {}
        }
    }
    None
}

fn free_port() -> Result<u16, String> {
    let bound = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(|error| format!("no port is free: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_as_they_are_written() {
        let call =
            "network(ip(\"flags(x)\") port(1) keep_hostname(yes) flags(no-parse, \"a)\") log-msg-size (5))";
        assert_eq!(option(call, "flags").as_deref(), Some("flags(no-parse, \"a)\")"));
        assert_eq!(option(call, "keep-hostname").as_deref(), Some("keep_hostname(yes)"));
        assert_eq!(option(call, "log-msg-size").as_deref(), Some("log-msg-size (5)"));
        assert_eq!((option(call, "tags"), option(call, "size")), (None, None));
    }

    #[test]
    fn a_copy_touches_nothing_of_the_original() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.conf");
        let text = "@version: 4.11\nsource s { network(port(514) flags(no-parse)); unix-dgram(\"/dev/log\"); };\n\
             destination d { network(\"central.example.com\" port(601) template(\"$MSG\\n\")); file(\"/var/log/x\"); };\n\
             log { source(s); destination(d); };\n";
        std::fs::write(&path, text).expect("a file");
        let copy = Copy::of(&path, None).expect("a copy");
        let variant = Variant { source: "log-fetch-limit(7)".to_owned(), ..Variant::default() };
        let text = copy.text(&variant);
        for gone in ["port(514)", "/dev/log", "central", "/var/log/x"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        assert!(text.contains("flags(no-parse) log-fetch-limit(7))"), "{text}");
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
        let shown =
            "network(\"127.0.0.1\" port(7) persist-name(\"copy-2\") template(\"$MSG\\n\") so-sndbuf(9))";
        assert!(sink(false).contains(shown) && sink(false).contains("/dev/null"), "{}", sink(false));
        assert!(!sink(true).contains("/dev/null"), "{}", sink(true));
        assert!(Copy::of(&path, Some("other")).is_err_and(|error| error.contains("`other`")));
    }
}
