//! Texts that a pattern matches, to find out what else does.

use crate::pattern_text::{Parser, Piece};

/// Different texts for each pattern.
pub const COUNT: usize = 3;

/// A text the pattern matches; `None` where that cannot be said: of regular expressions.
pub fn sample(pieces: &[Piece], variant: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text.extend_from_slice(literal),
            Piece::Parser(parser) => text.extend_from_slice(value(parser, variant)?.as_bytes()),
        }
    }
    Some(text)
}

fn value(parser: &Parser, variant: usize) -> Option<String> {
    let one = |of: [&str; COUNT]| of.get(variant % COUNT).map(|s| (*s).to_owned());
    let word = || one(["word", "Another7", "x"]);
    Some(match parser.type_name {
        "ANYSTRING" => one(["some words", "x", "7 = 8"])?,
        "NUMBER" => one(["42", "-7", "0x1f"])?,
        "FLOAT" | "DOUBLE" => one(["1.5", "-3", "2e7"])?,
        "STRING" => word()?,
        "ESTRING" => word()? + &parser.param,
        "NLSTRING" => word()? + "\n",
        "QSTRING" => {
            let mut quotes = parser.param.chars();
            let open = quotes.next()?;
            format!("{open}{}{}", word()?, quotes.next().unwrap_or(open))
        }
        "SET" => parser.param.chars().cycle().skip(variant).take(1 + variant).collect(),
        "OPTIONALSET" => parser.param.chars().cycle().take(variant).collect(),
        "IPv4" | "IPvANY" => one(["192.0.2.1", "10.0.0.99", "203.0.113.255"])?,
        "IPv6" => one(["2001:db8::1", "::1", "fe80::a:b"])?,
        "HOSTNAME" => one(["host.example.com", "a.b", "web-1.local"])?,
        "EMAIL" => one(["root@example.com", "a.b@c.d", "x@y.z"])?,
        "MACADDR" | "LLADDR" => one(["00:11:22:33:44:55", "aa:bb:cc:dd:ee:ff", "01:23:45:67:89:ab"])?,
        _ => return None,
    })
}
