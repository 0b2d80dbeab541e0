//! STRUCTURED-DATA as text: one parameter of it, and the whole rebuilt when parameters were set or unset on the way.

use crate::Msg;
use record::{Flags, NameId, ValueType, name_of};

const PREFIX: &str = ".SDATA.";

/// `.SDATA.id.param` as a template refers to it.
#[derive(Clone, Debug)]
pub(crate) struct ParamName {
    pub name: NameId,
    /// The name behind `.SDATA.`.
    rest: &'static str,
}

impl ParamName {
    pub fn new(name: NameId) -> ParamName {
        ParamName { name, rest: name_of(name).strip_prefix(PREFIX).unwrap_or_default() }
    }

    /// Appends the value; false when there is none.
    pub fn print(&self, msg: Msg<'_>, out: &mut Vec<u8>) -> bool {
        let Msg { batch, record } = msg;
        if record.flags.has(Flags::SDATA_CHANGED) && batch.overridden(record, self.name).is_some() {
            return match batch.value(record, self.name) {
                Some(value) => {
                    out.extend_from_slice(value.bytes);
                    true
                }
                None => false,
            };
        }
        if !record.sdata.is_empty() {
            for param in Params::of(batch.bytes(record.sdata)) {
                if is_name(self.rest.as_bytes(), param.id, param.name) {
                    unescape(param.value, out);
                    return true;
                }
            }
        }
        match batch.value(record, self.name) {
            Some(value) => {
                out.extend_from_slice(value.bytes);
                true
            }
            None => false,
        }
    }
}

/// Whether `rest` is `id.name`, or `id` for an element without parameters.
fn is_name(rest: &[u8], id: &[u8], name: &[u8]) -> bool {
    let Some(after) = rest.strip_prefix(id) else { return false };
    match after.split_first() {
        None => name.is_empty(),
        Some((b'.', after)) => !name.is_empty() && after == name,
        _ => false,
    }
}

/// A parameter as it stands in the text, its value still escaped. An element without parameters is one with an empty name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Param<'a> {
    id: &'a [u8],
    name: &'a [u8],
    value: &'a [u8],
}

/// The parameters of a valid STRUCTURED-DATA text; ends early on an invalid one.
struct Params<'a> {
    rest: &'a [u8],
    /// The element being read, and whether a parameter of it was seen.
    id: Option<&'a [u8]>,
    seen: bool,
}

impl<'a> Params<'a> {
    fn of(text: &'a [u8]) -> Params<'a> {
        Params { rest: text, id: None, seen: false }
    }
}

impl<'a> Iterator for Params<'a> {
    type Item = Param<'a>;

    fn next(&mut self) -> Option<Param<'a>> {
        loop {
            let Some(id) = self.id else {
                let inside = self.rest.strip_prefix(b"[")?;
                let len = inside.iter().position(|b| matches!(b, b' ' | b']'))?;
                (self.id, self.seen, self.rest) = (Some(&inside[..len]), false, &inside[len..]);
                continue;
            };
            let blanks = self.rest.iter().take_while(|b| **b == b' ').count();
            self.rest = &self.rest[blanks..];
            if let Some(after) = self.rest.strip_prefix(b"]") {
                (self.id, self.rest) = (None, after);
                if !self.seen {
                    return Some(Param { id, name: b"", value: b"" });
                }
                continue;
            }
            let equals = self.rest.iter().position(|b| *b == b'=')?;
            let (name, after) = self.rest.split_at(equals);
            let quoted = after.strip_prefix(b"=\"")?;
            let mut end = 0;
            while *quoted.get(end)? != b'"' {
                end += if quoted[end] == b'\\' { 2 } else { 1 };
            }
            (self.rest, self.seen) = (&quoted[end + 1..], true);
            return Some(Param { id, name, value: &quoted[..end] });
        }
    }
}

/// Only `\"`, `\\` and `\]` are escapes (RFC 5424 section 6.3.3).
fn unescape(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(at) = rest.iter().position(|b| *b == b'\\') {
        let keep = !matches!(rest.get(at + 1), Some(b'"' | b'\\' | b']'));
        out.extend_from_slice(&rest[..at + usize::from(keep)]);
        rest = &rest[at + 1..];
        if !keep && let Some((first, after)) = rest.split_first() {
            out.push(*first);
            rest = after;
        }
    }
    out.extend_from_slice(rest);
}

fn escape(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        if matches!(byte, b'"' | b'\\' | b']') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

/// Ids and parameter names: what RFC 5424 does not allow there becomes `%XX`.
fn push_name(name: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in name {
        if byte.is_ascii_graphic() && !matches!(byte, b'=' | b']' | b'"' | b'%') {
            out.push(*byte);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

const SEQUENCE_ID: &[u8] = b"meta.sequenceId";

/// The parameter of RFC 5424 section 7.3.1 that numbers messages.
pub(crate) fn sequence_id() -> ParamName {
    match record::intern(".SDATA.meta.sequenceId") {
        Some(name) => ParamName::new(name),
        None => ParamName { name: NameId(u32::MAX), rest: "" },
    }
}

/// Appends STRUCTURED-DATA: as received when nothing of it was changed, else rebuilt. `seqnum` is added as `meta sequenceId`
/// unless the message has one.
pub(crate) fn print(msg: Msg<'_>, seqnum: Option<u64>, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    let raw = batch.bytes(record.sdata);
    if !record.flags.has(Flags::SDATA_CHANGED) {
        out.extend_from_slice(raw);
        if let Some(seqnum) = seqnum
            && !Params::of(raw).any(|p| p.id == b"meta" && p.name == b"sequenceId")
        {
            add_seqnum(raw, seqnum, out);
        }
        return;
    }
    rebuild(msg, raw, seqnum, out);
}

/// Whether [`print`] would print anything.
pub(crate) fn is_empty(msg: Msg<'_>, seqnum: Option<u64>) -> bool {
    msg.record.sdata.is_empty() && seqnum.is_none() && !msg.record.flags.has(Flags::SDATA_CHANGED)
}

/// To a text just printed that has no sequence number: as an element of its own, or inside the `meta` element it has.
fn add_seqnum(raw: &[u8], seqnum: u64, out: &mut Vec<u8>) {
    let number = sequence(seqnum);
    let meta = b"[meta";
    let inside = raw.windows(meta.len() + 1).position(|w| w.starts_with(meta) && matches!(w[5], b' ' | b']'));
    let element = Params::of(raw).any(|p| p.id == b"meta");
    match inside.filter(|_| element) {
        Some(at) => {
            let at = out.len() - raw.len() + at + meta.len();
            let param = format!(" sequenceId=\"{number}\"");
            out.splice(at..at, param.bytes());
        }
        None => out.extend_from_slice(format!("[meta sequenceId=\"{number}\"]").as_bytes()),
    }
}

/// RFC 5424 section 7.3.1: 1 to 2147483647, then 1 again.
pub(crate) fn sequence(seqnum: u64) -> u64 {
    seqnum.saturating_sub(1) % 2_147_483_647 + 1
}

/// One parameter of the text being rebuilt: the id's length in `name`, and the value, escaped or not.
struct Built<'a> {
    id: &'a [u8],
    name: &'a [u8],
    value: &'a [u8],
    escaped: bool,
}

/// The rare case: parameters as received that were not set or unset since, then those that were, grouped by id.
fn rebuild(msg: Msg<'_>, raw: &[u8], seqnum: Option<u64>, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    let mut set: Vec<(&'static str, &[u8])> = batch
        .pairs(record)
        .filter(|(_, value)| value.kind != ValueType::Null)
        .filter_map(|(name, value)| Some((name_of(name).strip_prefix(PREFIX)?, value.bytes)))
        .collect();
    set.reverse();
    let mut built: Vec<Built<'_>> = Vec::new();
    for Param { id, name, value } in Params::of(raw) {
        match set.iter().position(|(full, _)| is_name(full.as_bytes(), id, name)) {
            Some(at) => {
                let (_, value) = set.remove(at);
                built.push(Built { id, name, value, escaped: false });
            }
            None if is_unset(msg, id, name) => {}
            None => built.push(Built { id, name, value, escaped: true }),
        }
    }
    for (full, value) in set {
        let full = full.as_bytes();
        // An id may have dots: prefer one that the message already has, else split at the last dot.
        let known = built.iter().map(|b| b.id).find(|id| {
            full.strip_prefix(*id).is_some_and(|after| after.first() == Some(&b'.') && after.len() > 1)
        });
        let id_len = known.map(<[u8]>::len).or_else(|| full.iter().rposition(|b| *b == b'.'));
        let (id, name) = full.split_at(id_len.unwrap_or(full.len()));
        built.push(Built { id, name: name.strip_prefix(b".").unwrap_or(name), value, escaped: false });
    }
    let number = seqnum.map(|n| sequence(n).to_string());
    if let Some(number) = &number
        && !built.iter().any(|b| b.id == b"meta" && b.name == b"sequenceId")
    {
        built.push(Built { id: b"meta", name: b"sequenceId", value: number.as_bytes(), escaped: false });
    }
    print_built(&built, out);
}

fn print_built(built: &[Built<'_>], out: &mut Vec<u8>) {
    for (at, first) in built.iter().enumerate() {
        if first.id.is_empty() || built[..at].iter().any(|b| b.id == first.id) {
            continue;
        }
        out.push(b'[');
        push_name(first.id, out);
        for param in built[at..].iter().filter(|b| b.id == first.id && !b.name.is_empty()) {
            out.push(b' ');
            push_name(param.name, out);
            out.extend_from_slice(b"=\"");
            if param.escaped {
                out.extend_from_slice(param.value);
            } else {
                escape(param.value, out);
            }
            out.push(b'"');
        }
        out.push(b']');
    }
}

fn is_unset(msg: Msg<'_>, id: &[u8], name: &[u8]) -> bool {
    let (Ok(id), Ok(name)) = (std::str::from_utf8(id), std::str::from_utf8(name)) else { return false };
    let full = if name.is_empty() { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}.{name}") };
    record::lookup(&full).is_some_and(|id| msg.batch.overridden(msg.record, id) == Some(false))
}

/// `$SEQNUM` of a message from elsewhere: the number its sender gave it.
pub(crate) fn print_sequence_id(msg: Msg<'_>, out: &mut Vec<u8>) {
    let raw = msg.batch.bytes(msg.record.sdata);
    if !msg.record.flags.has(Flags::SDATA_CHANGED) {
        let mut params = Params::of(raw);
        if let Some(param) = params.find(|p| is_name(SEQUENCE_ID, p.id, p.name)) {
            unescape(param.value, out);
        }
        return;
    }
    sequence_id().print(msg, out);
}
