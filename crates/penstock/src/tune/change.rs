//! What is tried: one thing at a time.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The copy as it is.
    Nothing,
    Workers(usize),
    /// An option of the source: its name and its value.
    Source(&'static str, &'static str),
    /// A global option.
    Global(&'static str, &'static str),
}

/// All that are worth a try on this machine.
pub fn all() -> Vec<Change> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut changes: Vec<Change> = [1, cores / 2, cores * 2]
        .into_iter()
        .filter(|count| *count > 0 && *count != cores)
        .map(Change::Workers)
        .collect();
    changes.dedup();
    changes.extend([
        Change::Source("log-fetch-limit", "100"),
        Change::Source("log-fetch-limit", "10000"),
        Change::Source("log-iw-size", "100000"),
        Change::Source("so-rcvbuf", "4194304"),
        Change::Global("log-fifo-size", "100000"),
        Change::Global("use-dns", "no"),
    ]);
    changes
}

pub fn names() -> String {
    all().iter().map(Change::name).collect::<Vec<String>>().join(", ")
}

impl Change {
    pub fn name(&self) -> String {
        match self {
            Change::Nothing => "nothing".to_owned(),
            Change::Workers(count) => format!("worker-threads({count})"),
            Change::Source(name, value) | Change::Global(name, value) => format!("{name}({value})"),
        }
    }

    /// As it is written where it takes effect.
    pub fn line(&self) -> String {
        match self {
            Change::Nothing => String::new(),
            Change::Workers(count) => format!("# penstock run --worker-threads {count}"),
            Change::Source(name, value) => format!("# at the source: {name}({value})"),
            Change::Global(name, value) => format!("options {{ {name}({value}); }};"),
        }
    }
}
