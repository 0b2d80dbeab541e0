//! Encodings and random ids.

use super::convert::first;
use super::strings::text_argument;
use crate::function::{Build, Function, Parameter};
use crate::run::{Eval, Failure, Halt, Run};
use crate::types::Types;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use value::{Span, Value};

pub(super) const DATA: &[Parameter] = &[Parameter::value("data", Types::BINARY)];
const TEXT: &[Parameter] = &[Parameter::value("text", Types::STRING)];

pub(super) const fn function(
    name: &'static str,
    parameters: &'static [Parameter],
    help: &'static str,
    examples: &'static [(&'static str, &'static str)],
    build: Build,
) -> Function {
    Function { name, parameters, returns: Types::STRING, help, examples, build }
}

pub const FUNCTIONS: &[Function] = &[
    function(
        "base64_encode",
        DATA,
        "The bytes in base64.",
        &[("base64_encode(\"foo\")", "\"Zm9v\"")],
        Build::Plain(|run, args| {
            let data = data_argument(run, args)?;
            run.made(|run, out| {
                out.extend_from_slice(STANDARD.encode(run.batch.bytes(data)).as_bytes());
                Ok(())
            })
        }),
    ),
    function(
        "base64_decode",
        TEXT,
        "What a text in base64 stands for. Other characters are passed over.",
        &[("string(base64_decode(\"Zm9v\"))", "\"foo\""), ("base64_decode(\"Z m-9v==\")", "bytes(\"foo\")")],
        Build::Plain(|run, args| {
            let text = text_argument(run, args, 0)?;
            let decoded = base64_decode(run.batch.bytes(text));
            run.place(&decoded).map(Value::Bytes)
        }),
    )
    .returning(Types::BYTES),
    function(
        "hex_encode",
        DATA,
        "The bytes in hexadecimal.",
        &[("hex_encode(\"foo\")", "\"666f6f\"")],
        Build::Plain(|run, args| {
            let data = data_argument(run, args)?;
            run.made(|run, out| {
                put_hex(run.batch.bytes(data), out);
                Ok(())
            })
        }),
    ),
    function(
        "hex_decode",
        TEXT,
        "What a text in hexadecimal stands for.",
        &[
            ("hex_decode(\"666f6F\")", "bytes(\"foo\")"),
            ("hex_decode(\"6\")", "error: Failed to decode hexadecimal text"),
        ],
        Build::Plain(|run, args| {
            let text = text_argument(run, args, 0)?;
            let text = run.batch.bytes(text).to_vec();
            let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
            let bytes: Option<Vec<u8>> = match text.len() % 2 {
                0 => text.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect(),
                _ => None,
            };
            match bytes {
                Some(bytes) => run.place(&bytes).map(Value::Bytes),
                None => run.error("Failed to decode hexadecimal text"),
            }
        }),
    )
    .returning(Types::BYTES),
    function(
        "urlencode",
        TEXT,
        "The text with `%XX` for what a URL does not allow.",
        &[("urlencode(\"a b/c\")", "\"a%20b%2Fc\"")],
        Build::Plain(|run, args| {
            let text = text_argument(run, args, 0)?;
            run.made(|run, out| {
                for byte in run.batch.bytes(text) {
                    match byte {
                        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                            out.push(*byte)
                        }
                        byte => {
                            out.push(b'%');
                            let start = out.len();
                            put_hex(&[*byte], out);
                            out.get_mut(start..).unwrap_or_default().make_ascii_uppercase();
                        }
                    }
                }
                Ok(())
            })
        }),
    ),
    function(
        "urldecode",
        TEXT,
        "The text with `%XX` resolved. `+` stays.",
        &[
            ("urldecode(\"a%20b+c\")", "\"a b+c\""),
            ("urldecode(\"%2\")", "error: Failed to decode URL encoded text"),
        ],
        Build::Plain(|run, args| {
            let text = text_argument(run, args, 0)?;
            let text = run.batch.bytes(text).to_vec();
            match url_decode(&text) {
                Some(decoded) => run.string(&decoded),
                None => run.error("Failed to decode URL encoded text"),
            }
        }),
    ),
    function(
        "utf8_validate",
        TEXT,
        "Whether the text is valid UTF-8.",
        &[("utf8_validate(\"a\\xffb\")", "false"), ("utf8_validate(\"a\")", "true")],
        Build::Plain(|run, args| {
            let text = text_argument(run, args, 0)?;
            Ok(Value::Boolean(std::str::from_utf8(run.batch.bytes(text)).is_ok()))
        }),
    )
    .returning(Types::BOOLEAN),
    function(
        "utf8_sanitize",
        TEXT,
        "The text with `\\xNN` for each byte that is not UTF-8.",
        &[("utf8_sanitize(\"a\\xffb\")", "\"a\\\\xffb\"")],
        Build::Plain(|run, args| {
            let text = text_argument(run, args, 0)?;
            run.made(|run, out| {
                for chunk in run.batch.bytes(text).utf8_chunks() {
                    out.extend_from_slice(chunk.valid().as_bytes());
                    for byte in chunk.invalid() {
                        out.extend_from_slice(b"\\x");
                        put_hex(&[*byte], out);
                    }
                }
                Ok(())
            })
        }),
    ),
    function(
        "uuid",
        &[],
        "A random id, version 4.",
        &[("len(uuid())", "36"), ("uuid()[14..15]", "\"4\"")],
        Build::Plain(|run, _| uuid(run, 4)),
    ),
    function(
        "uuid4",
        &[],
        "The same as uuid().",
        &[("uuid4()[14..15]", "\"4\"")],
        Build::Plain(|run, _| uuid(run, 4)),
    ),
    function(
        "uuid7",
        &[],
        "An id of version 7: it begins with the time, so that later ones are greater.",
        &[("uuid7()[14..15]", "\"7\"")],
        Build::Plain(|run, _| uuid(run, 7)),
    ),
];

/// The bytes of an argument that is a text or bytes.
pub(super) fn data_argument(run: &mut Run<'_>, args: &[Value]) -> Result<Span, Halt> {
    match first(args).span() {
        Some(span) => Ok(span),
        None => run.fail(Failure::Type("Argument must be string or bytes typed", first(args).type_name())),
    }
}

pub(super) fn put_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

fn base64_decode(text: &[u8]) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for six in text.iter().take_while(|b| **b != b'=').filter_map(|b| value(*b)) {
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    out
}

fn url_decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        out.push(match byte {
            b'%' => {
                let digits = std::str::from_utf8(after.get(..2)?).ok()?;
                rest = after.get(2..)?;
                let all = digits.bytes().all(|b| b.is_ascii_hexdigit());
                u8::from_str_radix(digits, 16).ok().filter(|b| all && *b != 0)?
            }
            byte => *byte,
        });
    }
    Some(out)
}

fn uuid(run: &mut Run<'_>, version: u8) -> Eval {
    let (high, low) = (run.cx.render.random(), run.cx.render.random());
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&high.to_be_bytes());
    bytes[8..].copy_from_slice(&low.to_be_bytes());
    if version == 7 {
        let now = run.cx.render.now();
        let millis = now.secs.max(0) as u64 * 1000 + u64::from(now.usec / 1000);
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    }
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    run.made(|_, out| {
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                out.push(b'-');
            }
            put_hex(&[*byte], out);
        }
        Ok(())
    })
}
