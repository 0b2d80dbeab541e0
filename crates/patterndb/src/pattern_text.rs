//! The text of a pattern, `user @ESTRING:user: @from @IPv4:ip@`, taken apart: literals and parsers.

use crate::scan::{Scan, Set};
use pattern::{Pattern, PatternOptions};
use record::ValueType;
use std::sync::Arc;

/// Length of a pattern.
pub const PATTERN_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
pub enum Piece {
    Literal(Vec<u8>),
    Parser(Parser),
}

/// `@TYPE:name:param@`.
#[derive(Clone, Debug)]
pub struct Parser {
    pub scan: Scan,
    /// `""`: what it matches is not kept.
    pub name: String,
    /// As it is written.
    pub type_name: &'static str,
    pub param: String,
}

impl Parser {
    /// The type of the value.
    pub fn kind(&self) -> ValueType {
        match self.scan {
            Scan::Number => ValueType::Int,
            Scan::Float => ValueType::Double,
            _ => ValueType::String,
        }
    }

    /// Whether both always match the same and keep it under the same name.
    pub fn is_same(&self, other: &Parser) -> bool {
        self.name == other.name && self.scans_same(other)
    }

    /// Whether both always match the same.
    pub fn scans_same(&self, other: &Parser) -> bool {
        self.type_name == other.type_name && self.param == other.param
    }
}

pub const TYPES: [&str; 18] = [
    "ANYSTRING",
    "DOUBLE",
    "EMAIL",
    "ESTRING",
    "FLOAT",
    "HOSTNAME",
    "IPv4",
    "IPv6",
    "IPvANY",
    "LLADDR",
    "MACADDR",
    "NLSTRING",
    "NUMBER",
    "OPTIONALSET",
    "PCRE",
    "QSTRING",
    "SET",
    "STRING",
];

/// Takes a pattern apart. `Err` says what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Piece>, String> {
    if text.is_empty() {
        return Err("an empty pattern matches nothing".to_owned());
    }
    if text.len() > PATTERN_BYTES_MAX {
        return Err(format!("a pattern has at most {PATTERN_BYTES_MAX} bytes"));
    }
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('@') {
        literal.extend_from_slice(before.as_bytes());
        if let Some(escaped) = after.strip_prefix('@') {
            literal.push(b'@');
            rest = escaped;
            continue;
        }
        let (parser, behind) = after.split_once('@').ok_or_else(|| {
            format!("`@{after}` begins a parser that has no end; an at sign is written `@@`")
        })?;
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Parser(parser_of(parser)?));
        rest = behind;
    }
    literal.extend_from_slice(rest.as_bytes());
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

fn parser_of(text: &str) -> Result<Parser, String> {
    let mut parts = text.splitn(3, ':');
    let kind = parts.next().unwrap_or_default();
    let name = parts.next().unwrap_or_default();
    let param = parts.next();
    let Some(type_name) = TYPES.into_iter().find(|t| *t == kind) else {
        let near = diag::nearest(kind, TYPES);
        let near = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
        return Err(format!("there is no parser `@{kind}@`{near}"));
    };
    let need =
        |what: &str| param.ok_or_else(|| format!("`@{text}@` needs {what}, as `@{type_name}:{name}:...@`"));
    let scan = match type_name {
        "ANYSTRING" => Scan::Any,
        "NUMBER" => Scan::Number,
        "FLOAT" | "DOUBLE" => Scan::Float,
        "STRING" => Scan::Set(Box::new(Set::alphanumeric(param.unwrap_or_default().as_bytes()))),
        "SET" => Scan::Set(Box::new(Set::of(need("the characters of the set")?.as_bytes()))),
        "OPTIONALSET" => Scan::OptionalSet(Box::new(Set::of(need("the characters of the set")?.as_bytes()))),
        "ESTRING" => Scan::Until(need("the text that ends it")?.as_bytes().into()),
        "NLSTRING" => Scan::Line,
        "QSTRING" => match need("the quotes")?.as_bytes() {
            [one] => Scan::Quoted(*one, *one),
            [open, close] => Scan::Quoted(*open, *close),
            _ => return Err(format!("`@{text}@` takes one or two quotes")),
        },
        "IPv4" => Scan::Ipv4,
        "IPv6" => Scan::Ipv6,
        "IPvANY" => Scan::IpAny,
        "HOSTNAME" => Scan::Hostname,
        "EMAIL" => Scan::Email(param.unwrap_or_default().as_bytes().into()),
        "MACADDR" => Scan::Octets(6),
        "LLADDR" => match param.map(|n| n.trim().parse()) {
            None => Scan::Octets(20),
            Some(Ok(count)) if count > 0 => Scan::Octets(count),
            Some(_) => return Err(format!("`@{text}@` takes the number of octets")),
        },
        _ => Scan::Pcre(pcre(need("a regular expression")?)?),
    };
    let (name, param) = (name.to_owned(), param.unwrap_or_default().to_owned());
    Ok(Parser { scan, name, type_name, param })
}

fn pcre(text: &str) -> Result<Arc<Pattern>, String> {
    let options = PatternOptions { captures: true, ..PatternOptions::default() };
    // The text itself first, so that parentheses that are not closed do not pair with ours.
    let wrong = |e: pattern::PatternError| format!("the regular expression `{text}` is wrong: {e}");
    Pattern::compile(text, &options).map_err(wrong)?;
    Pattern::compile(&format!("\\A(?:{text})"), &options).map(Arc::new).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = match parse(text) {
            Err(error) => error,
            Ok(pieces) => {
                let one = |p: &Piece| match p {
                    Piece::Literal(l) => format!("[{}]", String::from_utf8_lossy(l)),
                    Piece::Parser(p) => format!("{}({},{})", p.type_name, p.name, p.param),
                };
                pieces.iter().map(one).collect()
            }
        };
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn pieces() {
        check("a @@ b", "[a @ b]");
        check("a@NUMBER@x", "[a]NUMBER(,)[x]");
        check("@ESTRING:a: @@NUMBER:b@", "ESTRING(a, )NUMBER(b,)");
        check("@ESTRING:e:a:b@b", "ESTRING(e,a:b)[b]");
        check("@@@STRING:s:-@@@", "[@]STRING(s,-)[@]");
    }

    #[test]
    fn what_is_wrong() {
        check("", "an empty pattern matches nothing");
        check("a @NUMBER:e b", "`@NUMBER:e b` begins a parser that has no end; an at sign is written `@@`");
        check("@number:a@", "there is no parser `@number@`, did you mean `NUMBER`?");
        check("@ESTRING:e@", "`@ESTRING:e@` needs the text that ends it, as `@ESTRING:e:...@`");
        check("@QSTRING:q:abc@", "`@QSTRING:q:abc@` takes one or two quotes");
        check("@LLADDR:q:x@", "`@LLADDR:q:x@` takes the number of octets");
        assert!(parse("@PCRE:q:a)(b@").is_err());
    }
}
