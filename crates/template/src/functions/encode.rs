//! Template functions that encode: base64, URL, addresses as numbers, random ids.

use super::text;
use crate::call::Call;
use crate::facts::{number, put};
use crate::function::{ANY, Args, Build, Function, FunctionInfo, Plain, PlainCall};
use crate::{Cost, Msg, RenderContext, TemplateError};
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use record::{Demand, ValueType};
use std::io::Write;
use std::net::Ipv4Addr;

const fn texts(
    name: &'static str,
    help: &'static str,
    run: Plain,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage: "TEXT...",
        help,
        arity: (1, ANY),
        options: &[],
        build: Build::Plain(run),
        example,
        cost: Cost::ARGUMENTS,
    }
}

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    texts(
        "base64-encode",
        "the arguments, joined, in base64",
        base64_encode,
        ("$(base64-encode abcd)", "YWJjZA=="),
    ),
    texts(
        "url-encode",
        "the arguments, joined, with %XX for what a URL does not allow",
        url_encode,
        ("$(url-encode 'a b/')", "a%20b%2F"),
    ),
    texts(
        "url-decode",
        "the arguments, joined, with %XX decoded",
        url_decode,
        ("$(url-decode a%20b)", "a b"),
    ),
    texts(
        "ipv4-to-int",
        "IPv4 addresses as numbers, with a comma between",
        ipv4,
        ("$(ipv4-to-int 0.0.1.2)", "258"),
    ),
    FunctionInfo {
        name: "uuid",
        usage: "",
        help: "a random UUID, version 4",
        arity: (0, 0),
        options: &[],
        build: Build::Special(uuid),
        example: ("$(substr $(uuid) 14 1)", "4"),
        cost: Cost::of("16 random bytes of a generator of the worker"),
    },
    FunctionInfo {
        name: "document-id",
        usage: "ID",
        help: "the id; a random UUID for the word `auto`, so that a document sent twice is the same document",
        arity: (1, 1),
        options: &[],
        build: Build::Special(document_id),
        example: ("$(document-id a-$PID)|$(substr $(document-id auto) 14 1)", "a-123|4"),
        cost: Cost::ARGUMENTS,
    },
];

fn base64_encode(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    base64(args.iter(), out);
    ValueType::String
}

/// The parts, joined.
pub(crate) fn base64<'a>(parts: impl IntoIterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    let mut encoder = EncoderWriter::new(out, &STANDARD);
    for part in parts {
        // A vector takes everything.
        let _ = encoder.write_all(part);
    }
    let _ = encoder.finish();
}

fn url_encode(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    for byte in args.iter().flatten() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(*byte);
        } else {
            put(out, format_args!("%{byte:02X}"));
        }
    }
    ValueType::String
}

/// An argument with a `%` that is no escape, or with the escape of a zero byte, gives nothing, as in
/// syslog-ng.
fn url_decode(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    for arg in args.iter() {
        let start = out.len();
        if decoded(arg, out).is_none() {
            out.truncate(start);
        }
    }
    ValueType::String
}

fn decoded(mut rest: &[u8], out: &mut Vec<u8>) -> Option<()> {
    while let Some((byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|b| char::from(*b).to_digit(16));
        rest = after;
        match byte {
            b'%' => {
                out.push((digit(0)? * 16 + digit(1)?) as u8);
                out.last().filter(|byte| **byte != 0)?;
                rest = after.get(2..)?;
            }
            _ => out.push(*byte),
        }
    }
    Some(())
}

fn ipv4(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let address = std::str::from_utf8(arg).ok().and_then(|t| t.trim().parse::<Ipv4Addr>().ok());
        if let Some(address) = address {
            number(u64::from(u32::from(address)), out);
        }
    }
    ValueType::String
}

struct Uuid;

fn uuid(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    call.boxed(Uuid)
}

/// What is printed is stored, and stays the same however often it is sent.
fn document_id(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let id = call.template(0)?;
    match id.literal() {
        Some(b"auto") => call.boxed(Uuid),
        _ => call.boxed(PlainCall { name: "document-id", args: Box::new([id]), run: text::echo }),
    }
}

impl Function for Uuid {
    fn call(&self, _: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let (high, low) = (cx.random(), cx.random());
        // RFC 9562: 4 bits of version, 2 bits of variant.
        let high = high & !0xf000 | 0x4000;
        let low = low & (u64::MAX >> 2) | 1 << 63;
        put(out, format_args!("{:08x}-{:04x}-{:04x}", high >> 32, high >> 16 & 0xffff, high & 0xffff));
        put(out, format_args!("-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff));
        ValueType::String
    }

    fn reads(&self, _: &mut Demand) {}
}
