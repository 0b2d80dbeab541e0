//! What is tried: one thing at a time.

use crate::rig::{Copy, Outgoing, Variant};
use crate::subject::secrets::starred;

/// Where a change is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    CommandLine,
    Source,
    Destination,
    Global,
    /// In its log path, by its number in the copy.
    Filter(usize),
}

/// One thing that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    at: At,
    option: &'static str,
    value: String,
}

/// All that are worth a try: on this machine, with destinations over the network or without.
pub fn all(has_network: bool) -> Vec<Change> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut workers = vec![1, cores / 2, cores * 2];
    workers.retain(|count| *count > 0 && *count != cores);
    workers.dedup();
    let mut changes: Vec<Change> =
        workers.iter().map(|count| Change::new(At::CommandLine, "worker-threads", count)).collect();
    for (option, values) in [
        ("log-fetch-limit", &[100, 10_000][..]),
        ("log-iw-size", &[1_000, 100_000]),
        ("so-rcvbuf", &[262_144, 4_194_304]),
    ] {
        changes.extend(values.iter().map(|value| Change::new(At::Source, option, value)));
    }
    if has_network {
        for (option, values) in [("so-sndbuf", &[262_144, 4_194_304][..]), ("flush-lines", &[1, 1_000])] {
            changes.extend(values.iter().map(|value| Change::new(At::Destination, option, value)));
        }
    }
    changes.push(Change::new(At::Global, "log-fifo-size", &100_000));
    changes.push(Change::new(At::Global, "use-dns", &"no"));
    changes
}

impl Change {
    fn new(at: At, option: &'static str, value: &dyn ToString) -> Change {
        Change { at, option, value: value.to_string() }
    }

    /// A filter that stands earlier, in words.
    pub fn of_filter(number: usize, words: &str) -> Change {
        Change { at: At::Filter(number), option: "filter", value: words.to_owned() }
    }

    /// `log-fetch-limit(100)`, `filter f_ssh before parser p_kv (relay.conf:15)`
    pub fn name(&self) -> String {
        match self.at {
            At::Filter(_) => self.value.clone(),
            _ => format!("{}({})", self.option, self.value),
        }
    }

    /// As it is written where it takes effect: what is different, and the lines of the configuration. Secrets
    /// in these are starred.
    pub fn lines(&self, copy: &Copy) -> Vec<(String, String)> {
        let name = self.name();
        let of = |is_source: bool| {
            let lines = copy.lines(is_source, &name).into_iter();
            lines
                .map(|(place, call)| (format!("{name} at {place}"), format!("{};", starred(&call))))
                .collect()
        };
        match self.at {
            At::CommandLine => {
                let option = format!("--{} {}", self.option, self.value);
                vec![(option.clone(), format!("# penstock run {option}"))]
            }
            At::Source => of(true),
            At::Destination => of(false),
            At::Global => vec![(name.clone(), format!("options {{ {name}; }};"))],
            At::Filter(number) => {
                vec![(name.clone(), format!("{};", starred(&copy.path_of(number)).trim_end_matches(';')))]
            }
        }
    }

    /// A copy with it.
    pub fn variant(&self, outgoing: &Outgoing) -> Variant {
        let plain = Variant { outgoing: outgoing.clone(), ..Variant::default() };
        match self.at {
            At::CommandLine => Variant { workers: self.value.parse().ok(), ..plain },
            At::Source => Variant { source: self.name(), ..plain },
            At::Destination => Variant { network: self.name(), ..plain },
            At::Global => Variant { globals: format!("{};", self.name()), ..plain },
            At::Filter(number) => Variant { earlier: Some(number), ..plain },
        }
    }
}
