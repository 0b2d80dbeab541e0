//! Writes a pattern that was understood in the syntax of the linear-time engine, leaving nothing to its
//! defaults.

use crate::charset::CharSet;
use crate::node::{Assert, Node};
use std::fmt::Write;

/// The pattern text. `utf8`: sets are characters, not bytes.
pub fn emit(node: &Node, utf8: bool) -> String {
    let mut out = String::from(if utf8 { "(?u)" } else { "(?-u)" });
    write_node(node, utf8, &mut out);
    out
}

// Writing to a String cannot fail, so the results of write! carry nothing.
fn write_node(node: &Node, utf8: bool, out: &mut String) {
    match node {
        Node::Empty => out.push_str("(?:)"),
        Node::Literal { bytes, icase } => {
            if *icase {
                out.push_str("(?i-u:");
            }
            write_literal(bytes, utf8, out);
            if *icase {
                out.push(')');
            }
        }
        Node::Set(set) => write_set(set, utf8, out),
        Node::Assert(assert) => out.push_str(match assert {
            Assert::Start => r"\A",
            Assert::End | Assert::EndOrNewline => r"\z",
            Assert::LineStart => "(?m:^)",
            Assert::LineEnd => "(?m:$)",
            Assert::Word => r"(?-u:\b)",
            Assert::NotWord => r"(?-u:\B)",
        }),
        Node::Repeat { node, min: 1, max: Some(1), .. } => {
            out.push_str("(?:");
            write_node(node, utf8, out);
            out.push(')');
        }
        Node::Repeat { node, min, max, greedy } => {
            out.push_str("(?:");
            write_node(node, utf8, out);
            let _ = match max {
                Some(max) => write!(out, "){{{min},{max}}}"),
                None => write!(out, "){{{min},}}"),
            };
            if !greedy {
                out.push('?');
            }
        }
        Node::Group(node) => {
            out.push('(');
            write_node(node, utf8, out);
            out.push(')');
        }
        Node::Concat(items) => items.iter().for_each(|n| write_node(n, utf8, out)),
        Node::Alt(items) => {
            out.push_str("(?:");
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push('|');
                }
                write_node(item, utf8, out);
            }
            out.push(')');
        }
    }
}

fn write_literal(bytes: &[u8], utf8: bool, out: &mut String) {
    match (utf8, std::str::from_utf8(bytes)) {
        (true, Ok(text)) => text.chars().for_each(|c| write_unit(u32::from(c), utf8, out)),
        _ => bytes.iter().for_each(|b| write_unit(u32::from(*b), utf8, out)),
    }
}

/// Braces would mean a code point and not a byte.
fn write_unit(unit: u32, utf8: bool, out: &mut String) {
    let _ = match char::from_u32(unit) {
        Some(c) if c.is_ascii_alphanumeric() => write!(out, "{c}"),
        _ if utf8 => write!(out, "\\x{{{unit:x}}}"),
        _ => write!(out, "\\x{unit:02x}"),
    };
}

/// Surrogates are no characters: ranges are split around them.
fn write_set(set: &CharSet, utf8: bool, out: &mut String) {
    let mut inner = String::new();
    for &(from, to) in set.ranges() {
        let parts =
            if utf8 { [(from, to.min(0xd7ff)), (from.max(0xe000), to)] } else { [(from, to), (1, 0)] };
        for (from, to) in parts {
            if from <= to {
                write_unit(from, utf8, &mut inner);
                inner.push('-');
                write_unit(to, utf8, &mut inner);
            }
        }
    }
    if inner.is_empty() {
        // The engine's way to say "never": the intersection of two disjoint sets.
        out.push_str("[a&&b]");
    } else {
        let _ = write!(out, "[{inner}]");
    }
}
