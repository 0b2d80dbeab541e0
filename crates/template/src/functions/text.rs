//! Template functions on text.

use crate::budget::is_too_much;
use crate::call::Call;
use crate::facts::{int, number, put};
use crate::function::{ANY, Args, Build, Function, FunctionInfo, with_args};
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, ValueType};

const fn plain(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    arity: (usize, usize),
    run: crate::function::Plain,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage,
        help,
        arity,
        options: &[],
        build: Build::Plain(run),
        example,
        cost: Cost::ARGUMENTS,
    }
}

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    plain(
        "echo",
        "TEXT...",
        "the arguments with a blank between",
        (0, ANY),
        echo,
        ("$(echo a $PROGRAM)", "a app"),
    ),
    plain("length", "TEXT...", "bytes of each argument", (0, ANY), length, ("$(length $PROGRAM)", "3")),
    plain(
        "substr",
        "TEXT START [LENGTH]",
        "part of a text; a negative START counts from the end, a negative LENGTH leaves that many at the end",
        (2, 3),
        substr,
        ("$(substr abcdef -3 2)", "de"),
    ),
    plain(
        "strip",
        "TEXT...",
        "the arguments without blanks around them",
        (0, ANY),
        strip,
        ("$(strip ' a ')", "a"),
    ),
    plain(
        "lowercase",
        "TEXT...",
        "letters in lower case, outside of ASCII too",
        (0, ANY),
        lowercase,
        ("$(lowercase ABC)", "abc"),
    ),
    plain(
        "uppercase",
        "TEXT...",
        "letters in upper case, outside of ASCII too",
        (0, ANY),
        uppercase,
        ("$(uppercase abc)", "ABC"),
    ),
    plain(
        "replace-delimiter",
        "CHARACTERS NEW TEXT",
        "every one of CHARACTERS replaced",
        (3, 3),
        replace_delimiter,
        ("$(replace-delimiter ',;' '|' 'a,b;c')", "a|b|c"),
    ),
    plain(
        "indent-multi-line",
        "TEXT...",
        "a tab after each newline that has none, for lines that continue a message",
        (0, ANY),
        indent,
        ("$(indent-multi-line 'a\nb')", "a\n\tb"),
    ),
    plain(
        "padding",
        "TEXT WIDTH [PAD]",
        "PAD, a blank if not given, put before TEXT up to WIDTH bytes",
        (2, 3),
        padding,
        ("$(padding 7 3 0)", "007"),
    ),
    plain(
        "binary",
        "NUMBER...",
        "the bytes with these numbers; 0x begins hexadecimal, 0 octal",
        (1, ANY),
        binary,
        ("$(binary 65 0x42 0103)", "ABC"),
    ),
    FunctionInfo {
        name: "sanitize",
        usage: "[-c] [-C] [-i CHARACTERS] [-r REPLACEMENT] TEXT...",
        help: "the arguments with a slash between, made safe as parts of a path: control characters (-C keeps them) and \
               CHARACTERS (a slash if not given) become REPLACEMENT (_ if not given)",
        arity: (0, ANY),
        options: &[
            ("-c", false),
            ("--ctrl-chars", false),
            ("-C", false),
            ("--no-ctrl-chars", false),
            ("-i", true),
            ("--invalid-chars", true),
            ("-r", true),
            ("--replacement", true),
        ],
        build: Build::Special(sanitize),
        example: ("$(sanitize a/b c)", "a_b/c"),
        cost: Cost::ARGUMENTS,
    },
];

/// Appends what `each` makes of the arguments, with a blank between.
fn spaced(args: Args<'_>, out: &mut Vec<u8>, each: impl Fn(&[u8], &mut Vec<u8>)) {
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        each(arg, out);
    }
}

pub(super) fn echo(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    spaced(args, out, |arg, out| out.extend_from_slice(arg));
    ValueType::String
}

fn length(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    spaced(args, out, |arg, out| number(arg.len() as u64, out));
    ValueType::Int
}

fn substr(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let length = if args.count() == 2 { Some(i64::MAX) } else { int(args.get(2)) };
    if let (Some(start), Some(length)) = (int(args.get(1)), length) {
        out.extend_from_slice(part(args.get(0), start, length).unwrap_or_default());
    }
    ValueType::String
}

/// Negative numbers count from the end; a start outside of the text gives nothing.
fn part(text: &[u8], start: i64, length: i64) -> Option<&[u8]> {
    let size = text.len() as i64;
    let start = if start < 0 { size.saturating_add(start) } else { start };
    let from = if length < 0 { size } else { start };
    let end = from.saturating_add(length).min(size);
    text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

fn strip(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let mut is_first = true;
    for text in args.iter().map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()) {
        if !std::mem::replace(&mut is_first, false) {
            out.push(b' ');
        }
        out.extend_from_slice(text);
    }
    ValueType::String
}

fn lowercase(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    cased(args, out, u8::to_ascii_lowercase, |c| c.to_lowercase().collect())
}

fn uppercase(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    cased(args, out, u8::to_ascii_uppercase, |c| c.to_uppercase().collect())
}

/// Text that is no UTF-8 is changed where it is ASCII.
fn cased(args: Args<'_>, out: &mut Vec<u8>, ascii: fn(&u8) -> u8, other: fn(char) -> Cased) -> ValueType {
    spaced(args, out, |arg, out| match std::str::from_utf8(arg) {
        Ok(text) if !text.is_ascii() => text.chars().for_each(|c| out.extend_from_slice(other(c).bytes())),
        _ => out.extend(arg.iter().map(ascii)),
    });
    ValueType::String
}

/// What one character becomes: up to three.
struct Cased {
    bytes: [u8; 12],
    len: usize,
}

impl Cased {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl FromIterator<char> for Cased {
    fn from_iter<I: IntoIterator<Item = char>>(chars: I) -> Cased {
        let mut cased = Cased { bytes: [0; 12], len: 0 };
        for c in chars {
            if let Some(room) = cased.bytes.get_mut(cased.len..).filter(|room| room.len() >= c.len_utf8()) {
                cased.len += c.encode_utf8(room).len();
            }
        }
        cased
    }
}

fn replace_delimiter(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let (delimiters, new) = (args.get(0), args.get(1));
    let start = out.len();
    for byte in args.get(2) {
        if delimiters.contains(byte) {
            out.extend_from_slice(new);
        } else {
            out.push(*byte);
        }
        if is_too_much(out, start) {
            break;
        }
    }
    ValueType::String
}

fn indent(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    spaced(args, out, |arg, out| {
        for (at, byte) in arg.iter().enumerate() {
            out.push(*byte);
            if *byte == b'\n' && arg.get(at + 1) != Some(&b'\t') {
                out.push(b'\t');
            }
        }
    });
    ValueType::String
}

/// Bound of a padded text, against a width that came with a message.
const WIDTH_MAX: i64 = 65_536;

fn padding(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let text = args.get(0);
    let width = int(args.get(1)).unwrap_or(0).clamp(0, WIDTH_MAX) as usize;
    let pad: &[u8] = if args.count() < 3 || args.get(2).is_empty() { b" " } else { args.get(2) };
    out.extend(pad.iter().cycle().take(width.saturating_sub(text.len())));
    out.extend_from_slice(text);
    ValueType::String
}

fn binary(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    for arg in args.iter() {
        let text = std::str::from_utf8(arg).unwrap_or_default();
        let number = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
            (Some(hex), _) => u8::from_str_radix(hex, 16),
            (None, Some(octal)) if !octal.is_empty() => u8::from_str_radix(octal, 8),
            _ => text.parse(),
        };
        match number {
            Ok(byte) => out.push(byte),
            // No byte has this number: shown, rather than a byte that was not meant.
            Err(_) => put(out, format_args!("?")),
        }
    }
    ValueType::String
}

struct Sanitize {
    args: Box<[Template]>,
    control: bool,
    invalid: Box<[u8]>,
    replacement: u8,
}

fn sanitize(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let invalid = call.option("-i").or(call.option("--invalid-chars")).unwrap_or_else(|| "/".to_owned());
    let replacement = call.option("-r").or(call.option("--replacement")).unwrap_or_else(|| "_".to_owned());
    let &[replacement] = replacement.as_bytes() else {
        return Err(call.error(0, "the replacement of $(sanitize) has to be one character"));
    };
    let control = !call.has("-C") && !call.has("--no-ctrl-chars");
    call.boxed(Sanitize {
        args: call.templates(0)?,
        control,
        invalid: invalid.into_bytes().into(),
        replacement,
    })
}

impl Function for Sanitize {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.args, msg, cx, |args, _| {
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    out.push(b'/');
                }
                out.extend(arg.iter().map(|byte| {
                    let bad = self.control && *byte < 0x20 || self.invalid.contains(byte);
                    if bad { self.replacement } else { *byte }
                }));
            }
        });
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.args.iter().for_each(|arg| arg.reads(demand));
    }
}
