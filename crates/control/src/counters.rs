//! One statistics counter as a snapshot: the names syslog-ng knows it by, and its value.

use std::borrow::Cow;

/// Whether the object a counter belongs to still exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    Active,
    /// Made on the way (per host, program, sender), not by the configuration.
    Dynamic,
    /// Its object is gone since a reload; kept until orphans are removed.
    Orphaned,
}

impl State {
    /// The letter in the CSV column `State`.
    pub fn letter(self) -> char {
        match self {
            State::Active => 'a',
            State::Dynamic => 'd',
            State::Orphaned => 'o',
        }
    }
}

/// What a value counts, so that Prometheus gets base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    #[default]
    Plain,
    /// Printed as seconds.
    Nanoseconds,
}

/// Name and labels of a counter in the Prometheus rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromName {
    /// Without the prefix `syslogng_`.
    pub name: Cow<'static, str>,
    /// In the order they are printed. Labels with an empty value are left out.
    pub labels: Vec<(Cow<'static, str>, String)>,
    pub unit: Unit,
}

impl PromName {
    pub fn new(name: &'static str, labels: Vec<(&'static str, String)>) -> Self {
        let labels = labels.into_iter().map(|(name, value)| (name.into(), value)).collect();
        PromName { name: name.into(), labels, unit: Unit::Plain }
    }

    /// A name that the configuration gives.
    pub fn configured(name: String, labels: Vec<(String, String)>) -> Self {
        let labels = labels.into_iter().map(|(name, value)| (name.into(), value)).collect();
        PromName { name: name.into(), labels, unit: Unit::Plain }
    }
}

/// A counter at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// `src.network`, `dst.file`, `source`, `destination`, `center`, `global`, ...; empty for a metric that
    /// exists in the Prometheus rendering only.
    pub source_name: String,
    /// `s_net#0` for a driver, `s_net` for a statement, empty for `center`.
    pub source_id: String,
    /// File name as configured, `tcp,127.0.0.1`, ...; may be empty.
    pub instance: String,
    pub state: State,
    /// `processed`, `written`, `dropped`, `queued`, `stamp`, ...
    pub kind: &'static str,
    pub value: u64,
    /// The `stats(level())` from which it is shown, `0..=4`.
    pub level: u8,
    /// `None`: known to the older renderings only.
    pub prom: Option<PromName>,
}

impl Counter {
    /// An active counter of level 0 without a Prometheus name.
    pub fn new(source_name: &str, source_id: &str, instance: &str, kind: &'static str, value: u64) -> Self {
        Counter {
            source_name: source_name.to_owned(),
            source_id: source_id.to_owned(),
            instance: instance.to_owned(),
            state: State::Active,
            kind,
            value,
            level: 0,
            prom: None,
        }
    }

    /// The same with a Prometheus name.
    pub fn with_prom(mut self, name: &'static str, labels: Vec<(&'static str, String)>) -> Self {
        self.prom = Some(PromName::new(name, labels));
        self
    }

    /// A metric of the Prometheus rendering only.
    pub fn metric(prom: PromName, value: u64) -> Self {
        Counter { prom: Some(prom), ..Counter::new("", "", "", "", value) }
    }

    /// Whether the renderings older than Prometheus have it.
    pub fn has_legacy_name(&self) -> bool {
        !self.source_name.is_empty()
    }

    /// The name in `query`: the parts that are not empty, joined by dots.
    pub fn key(&self) -> String {
        let parts = [&*self.source_name, &*self.source_id, &*self.instance, self.kind];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_skips_empty_parts() {
        let check = |id: &str, instance: &str, expected: &str| {
            assert_eq!(Counter::new("dst.file", id, instance, "written", 1).key(), expected);
        };
        check("d_f#0", "/var/log/x.log", "dst.file.d_f#0./var/log/x.log.written");
        check("d_f#0", "", "dst.file.d_f#0.written");
        check("", "queued", "dst.file.queued.written");
        check("", "", "dst.file.written");
    }
}
