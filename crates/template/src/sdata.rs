//! STRUCTURED-DATA as text: one parameter of it, and the whole rebuilt when parameters were set or unset on
//! the way.

use crate::Msg;
use record::{Batch, Flags, NameId, name_of};
use std::collections::HashMap;
use wire::sdata::{Builder, PREFIX, Param, lookup, params, split_path, unescape};

/// `.SDATA.id.param` as a template refers to it.
#[derive(Clone, Debug)]
pub(crate) struct ParamName {
    pub name: NameId,
    /// The name behind `.SDATA.`.
    path: &'static [u8],
}

impl ParamName {
    pub fn new(name: NameId) -> ParamName {
        ParamName { name, path: path_of(name_of(name)).unwrap_or_default() }
    }

    /// Whether the message came with it.
    pub fn is_received(&self, msg: Msg<'_>) -> bool {
        lookup(msg.batch.bytes(msg.record.sdata), self.path).is_some()
    }

    /// Appends the value; nothing when it is not set.
    pub fn print(&self, msg: Msg<'_>, cache: &mut SdataCache, out: &mut Vec<u8>) {
        let Msg { batch, record } = msg;
        let changed = record.flags.has(Flags::SDATA_CHANGED) && batch.overridden(record, self.name).is_some();
        if !changed && let Some(value) = lookup(batch.bytes(record.sdata), self.path) {
            out.extend_from_slice(unescape(value, &mut cache.plain));
        } else if let Some(value) = batch.value(record, self.name) {
            out.extend_from_slice(value.bytes);
        }
    }
}

fn path_of(name: &str) -> Option<&[u8]> {
    name.strip_prefix(PREFIX).map(str::as_bytes)
}

/// Names that peers put into their parameters are not all remembered.
const NAMES_MAX: usize = 4096;

/// What a worker remembers of STRUCTURED-DATA, so that the process-wide table of names is not asked for each
/// message.
#[derive(Debug, Default)]
pub(crate) struct SdataCache {
    /// What stands for the names of parameters, see [`record::name_key`].
    keys: HashMap<Box<[u8]>, u64>,
    /// A value without its escapes.
    plain: Vec<u8>,
    full: Vec<u8>,
}

impl SdataCache {
    /// The name of a parameter as a value.
    fn full(&mut self, param: &Param<'_>) -> Option<&str> {
        self.full.clear();
        self.full.extend_from_slice(PREFIX.as_bytes());
        self.full.extend_from_slice(param.id);
        if !param.name.is_empty() {
            self.full.push(b'.');
            self.full.extend_from_slice(param.name);
        }
        std::str::from_utf8(&self.full).ok()
    }

    /// The number of a parameter's name, if a configuration or a message of the batch has named it.
    fn id(&mut self, batch: &Batch, param: &Param<'_>) -> Option<NameId> {
        batch.names.known(self.full(param)?)
    }

    /// What stands for the name of a parameter in all batches, and the name.
    pub fn key(&mut self, param: &Param<'_>) -> Option<(u64, &str)> {
        self.full(param)?;
        let key = match self.keys.get(&*self.full) {
            Some(key) => *key,
            None => {
                let key = record::name_key(std::str::from_utf8(&self.full).ok()?);
                if self.keys.len() > NAMES_MAX {
                    self.keys.clear();
                }
                self.keys.insert(self.full.as_slice().into(), key);
                key
            }
        };
        Some((key, std::str::from_utf8(&self.full).ok()?))
    }
}

const SEQUENCE_ID: &[u8] = b"meta.sequenceId";

/// RFC 5424 section 7.3.1: 1 to 2147483647, then 1 again.
pub(crate) fn sequence(seqnum: u64) -> u64 {
    seqnum.saturating_sub(1) % 2_147_483_647 + 1
}

/// `$SEQNUM` of a message from elsewhere: the number its sender gave it.
pub(crate) fn print_sequence_id(msg: Msg<'_>, cache: &mut SdataCache, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    if record.flags.has(Flags::SDATA_CHANGED)
        && let Some(name) = cache.id(batch, &Param { id: b"meta", name: b"sequenceId", value: b"" })
    {
        ParamName { name, path: SEQUENCE_ID }.print(msg, cache, out);
    } else if let Some(value) = lookup(batch.bytes(record.sdata), SEQUENCE_ID) {
        out.extend_from_slice(unescape(value, &mut cache.plain));
    }
}

/// Appends STRUCTURED-DATA: as received when nothing of it was changed, else rebuilt. `seqnum` is added as
/// `sequenceId` of `meta` unless the message has one.
pub(crate) fn print(msg: Msg<'_>, seqnum: Option<u64>, cache: &mut SdataCache, out: &mut Vec<u8>) {
    let raw = msg.batch.bytes(msg.record.sdata);
    let changed = msg.record.flags.has(Flags::SDATA_CHANGED);
    match seqnum.filter(|_| changed || lookup(raw, SEQUENCE_ID).is_none()) {
        None if !changed => out.extend_from_slice(raw),
        // The usual local message has no STRUCTURED-DATA of its own.
        Some(seqnum) if !changed && raw.is_empty() => {
            out.extend_from_slice(b"[meta sequenceId=\"");
            crate::facts::number(sequence(seqnum), out);
            out.extend_from_slice(b"\"]");
        }
        seqnum => rebuild(msg, seqnum, cache, out),
    }
}

/// A parameter of the text being rebuilt; `changed` holds the plain value that replaces the one received.
struct Built<'a> {
    param: Param<'a>,
    changed: Option<&'a [u8]>,
}

/// The rare case: parameters as received, with their new values, less those that were unset. A new one stands
/// behind the last one of its element; new elements stand in front. Allocates.
fn rebuild(msg: Msg<'_>, seqnum: Option<u64>, cache: &mut SdataCache, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    let path = |name: NameId| name.is_sdata().then(|| path_of(batch.name_of(name))).flatten();
    let mut set: Vec<(&[u8], &[u8])> =
        batch.pairs(record).filter_map(|(name, value)| Some((path(name)?, value.bytes))).collect();
    set.reverse();
    let mut built: Vec<Built<'_>> = Vec::new();
    for param in params(batch.bytes(record.sdata)) {
        if let Some(at) = set.iter().position(|(path, _)| param.is(path)) {
            let (_, value) = set.remove(at);
            built.push(Built { param, changed: Some(value) });
        } else if cache.id(batch, &param).and_then(|id| batch.overridden(record, id)).is_none() {
            built.push(Built { param, changed: None });
        }
    }
    for (path, value) in set {
        // An id may have dots: one that the message already has is preferred.
        let known = built
            .iter()
            .map(|b| b.param.id)
            .find(|id| path.strip_prefix(*id).is_some_and(|rest| rest.len() > 1 && rest.starts_with(b".")));
        let (id, name) = match known {
            Some(id) => (id, path.get(id.len() + 1..).unwrap_or_default()),
            None => split_path(path),
        };
        // A new element goes in front of the others, as in syslog-ng.
        let at = built.iter().rposition(|b| b.param.id == id).map_or(0, |last| last + 1);
        built.insert(at, Built { param: Param { id, name, value: b"" }, changed: Some(value) });
    }
    let number = seqnum.map(|seqnum| sequence(seqnum).to_string());
    if let Some(number) = &number
        && !built.iter().any(|b| b.param.is(SEQUENCE_ID))
    {
        let param = Param { id: b"meta", name: b"sequenceId", value: b"" };
        let at = built.iter().position(|b| b.param.id == b"meta").unwrap_or(built.len());
        built.insert(at, Built { param, changed: Some(number.as_bytes()) });
    }
    write(&built, cache, out);
}

fn write(built: &[Built<'_>], cache: &mut SdataCache, out: &mut Vec<u8>) {
    let mut builder = Builder::new(out);
    for Built { param, changed } in built {
        let value = changed.unwrap_or_else(|| unescape(param.value, &mut cache.plain));
        builder.param(param.id, param.name, value);
    }
    builder.finish();
}
