//! `linux-audit-parser()`: the key=value form of auditd, which writes texts with unusual bytes in
//! hexadecimal.

use super::common;
use crate::build::Build;
use crate::options::{PARSER, PREFIX};
use crate::parse::Parse;
use conf_schema::{Component, Context, Cost, Settings};
use std::sync::Arc;

pub static LINUX_AUDIT_PARSER: Component = Component {
    context: Context::Parser,
    name: "linux-audit-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[PREFIX],
    presets: &[],
    not_yet: &[],
    summary: "Takes keys and values out of the messages of auditd, as kv-parser() does, and decodes those it writes in \
              hexadecimal: commands, paths, arguments.",
    example: "linux-audit-parser(prefix(\".auditd.\"))",
    cost: Some(Cost::example(
        "One pass over the text; keys that nothing reads are passed over, and their values are not decoded.",
    )),
};

pub fn build_audit(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let kv = common(settings, b, true)?;
    Some(Arc::new(kv))
}

const ENCODED: [&[u8]; 9] =
    [b"name", b"proctitle", b"path", b"dir", b"comm", b"ocomm", b"data", b"old", b"new"];

/// Appends what a value in hexadecimal stands for; false when it is none: of another key, not in whole bytes,
/// or of a text that auditd would not have encoded, so that it stands for itself.
pub fn decode(key: &[u8], value: &[u8], out: &mut Vec<u8>) -> bool {
    let argument =
        matches!(key, [b'a', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    if !(argument || ENCODED.contains(&key)) || value.is_empty() || !value.len().is_multiple_of(2) {
        return false;
    }
    let mark = out.len();
    let mut unusual = false;
    for pair in value.chunks_exact(2) {
        let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
        let (Some(high), Some(low)) = (digit(pair.first()), digit(pair.get(1))) else {
            out.truncate(mark);
            return false;
        };
        let byte = (high * 16 + low) as u8;
        unusual |= !(0x21..=0x7e).contains(&byte) || byte == b'"';
        // Arguments of a command line are separated by NUL.
        out.push(if byte == 0 { b'\t' } else { byte });
    }
    let good = unusual && std::str::from_utf8(out.get(mark..).unwrap_or_default()).is_ok();
    if !good {
        out.truncate(mark);
    }
    good
}
