//! A class or function that a configuration names: what it is called with, and which values of messages it
//! has asked for so far.

use crate::fault::Fault;
use crate::marshal;
use crate::pool::Pool;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values that are sent with each message because the class has asked for them before. Others it asks for,
/// for all messages of a batch at once.
pub const NAMES_MAX: usize = 48;

/// What a class asks for of a message; `syslogng.message` says how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    Value(&'a str),
    /// The names of all values.
    Keys,
    /// The time stamp: seconds, microseconds, offset of the zone.
    Stamp,
    Template(Printed<'a>),
}

/// What a template prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed<'a> {
    pub template: &'a str,
    /// As the options of the driver say, not as the global ones do.
    pub of_driver: bool,
    /// In time-zone(), not in local-time-zone().
    pub in_send_zone: bool,
    pub seqnum: Seqnum,
}

/// What $SEQNUM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seqnum {
    Nothing,
    /// The number that the message has at its destination.
    OfMessage,
    Given(u64),
}

impl<'a> Printed<'a> {
    /// From the zone, the number and the template, as `syslogng.template` writes them.
    fn of(text: &'a str) -> Option<Printed<'a>> {
        let (how, template) = text.split_once('\0')?;
        let (zone, number) = how.split_at_checked(1)?;
        let seqnum = match number {
            "0" => Seqnum::Nothing,
            "m" => Seqnum::OfMessage,
            number => Seqnum::Given(number.parse().ok()?),
        };
        let of_driver = zone.starts_with(|letter: char| letter.is_ascii_uppercase());
        Some(Printed { template, of_driver, in_send_zone: zone.eq_ignore_ascii_case("s"), seqnum })
    }
}

impl Wanted<'_> {
    pub fn of(name: &str) -> Wanted<'_> {
        match name.strip_prefix('\0') {
            None => Wanted::Value(name),
            Some("k") => Wanted::Keys,
            Some("s") => Wanted::Stamp,
            Some(other) => {
                let nothing =
                    Printed { template: "", of_driver: false, in_send_zone: false, seqnum: Seqnum::Nothing };
                Wanted::Template(other.strip_prefix('t').and_then(Printed::of).unwrap_or(nothing))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Parser,
    /// Called with the message and arguments; returns a text.
    Function,
    /// Has a process of its own, see [`crate::Post`].
    Destination,
    /// Posts messages by itself, see [`crate::Producer`].
    Source,
    /// Is asked for messages, in the same way.
    Fetcher,
    /// Makes headers of HTTP requests, see [`crate::Headers`].
    Headers,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Parser => "parser",
            Kind::Function => "function",
            Kind::Destination => "destination",
            Kind::Source => "source",
            Kind::Fetcher => "fetcher",
            Kind::Headers => "headers",
        }
    }

    /// Whether its objects are made in the processes that all share.
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Kind::Parser | Kind::Function)
    }
}

/// The values that go with each message, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Larger with every name.
    pub version: u64,
    pub list: Vec<Box<str>>,
}

/// What tells one instance from another: that of the last configuration goes on when all of it is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub kind: Kind,
    pub class: String,
    /// In the format of `marshal`: a list of (name, value).
    pub options: Vec<u8>,
    pub loaders: Vec<String>,
    /// Its place in the configuration, or its name there.
    pub place: String,
    /// Of a source, what flags() says: a dictionary in the format of `marshal`.
    pub flags: Option<Vec<u8>>,
}

/// Messages for which a class or function has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    pub class: String,
    /// It raised.
    pub raised: u64,
    /// A process died of them, or none could be found for them.
    pub lost: u64,
}

/// Shared by all processes of the pool; each makes an object of its own.
pub struct Instance {
    pub(crate) pool: Arc<Pool>,
    pub(crate) number: u64,
    pub(crate) identity: Identity,
    names: Mutex<Arc<Names>>,
    /// Messages that a process died of, or that none could be found for.
    lost: AtomicU64,
    /// Messages for which the class raised.
    raised: AtomicU64,
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Instance {
    pub(crate) fn new(pool: Arc<Pool>, identity: Identity) -> Instance {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Instance {
            pool,
            number,
            identity,
            names: Mutex::default(),
            lost: AtomicU64::new(0),
            raised: AtomicU64::new(0),
        }
    }

    pub fn class(&self) -> &str {
        &self.identity.class
    }

    /// Tells it from all others of this process, also from earlier ones with the same class.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What is sent with each message.
    pub fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names.lock())
    }

    /// Notes that the class has asked for a value. What is printed with a number is asked for once.
    pub(crate) fn learn(&self, name: &str) {
        if matches!(Wanted::of(name), Wanted::Template(Printed { seqnum: Seqnum::Given(_), .. })) {
            return;
        }
        let mut names = self.names.lock();
        if names.list.len() < NAMES_MAX && !names.list.iter().any(|known| **known == *name) {
            let list = names.list.iter().cloned().chain([name.into()]).collect();
            *names = Arc::new(Names { version: names.version + 1, list });
        }
    }

    /// Counts messages for which the class raised.
    pub fn note_raised(&self, messages: u64) {
        self.raised.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn failures(&self) -> Failures {
        Failures {
            class: self.identity.class.clone(),
            raised: self.raised.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn note_lost(&self, fault: &Fault) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        oplog::limited(
            "python.lost",
            oplog::Level::Error,
            "A message was dropped in Python",
            &[("class", &self.identity.class), ("reason", fault)],
        );
    }

    pub(crate) fn write_load(&self, out: &mut Vec<u8>) {
        marshal::text(self.identity.kind.as_str(), out);
        marshal::text(&self.identity.class, out);
        marshal::list(self.identity.loaders.len(), out);
        self.identity.loaders.iter().for_each(|loader| marshal::text(loader, out));
    }

    pub(crate) fn write_init(&self, out: &mut Vec<u8>) {
        marshal::int(self.number as i64, out);
        marshal::text(self.identity.kind.as_str(), out);
        marshal::text(&self.identity.class, out);
        out.extend_from_slice(&self.identity.options);
        marshal::text(&self.identity.place, out);
        match &self.identity.flags {
            Some(flags) => out.extend_from_slice(flags),
            None => marshal::none(out),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.pool.forget(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_told_apart() {
        assert_eq!(Wanted::of("HOST"), Wanted::Value("HOST"));
        assert_eq!(Wanted::of("\0k"), Wanted::Keys);
        assert_eq!(Wanted::of("\0s"), Wanted::Stamp);
        let printed = |template, in_send_zone, seqnum| {
            Wanted::Template(Printed { template, of_driver: false, in_send_zone, seqnum })
        };
        assert_eq!(Wanted::of("\0tl0\0$HOST"), printed("$HOST", false, Seqnum::Nothing));
        assert_eq!(Wanted::of("\0tsm\0a\0b"), printed("a\0b", true, Seqnum::OfMessage));
        assert_eq!(Wanted::of("\0tl17\0"), printed("", false, Seqnum::Given(17)));
        let own = Printed { template: "$HOST", of_driver: true, in_send_zone: true, seqnum: Seqnum::Nothing };
        assert_eq!(Wanted::of("\0tS0\0$HOST"), Wanted::Template(own));
        for wrong in ["\0", "\0t", "\0tx", "\0tl-1\0a", "\0t\0a"] {
            assert_eq!(Wanted::of(wrong), printed("", false, Seqnum::Nothing), "{wrong:?}");
        }
    }
}
