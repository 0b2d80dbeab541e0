//! Conditions: expressions of RainerScript, and property filters, as filters.

use super::NoCounterpart;
use super::reader::Reader;
use super::selectors;
use super::written::{MESSAGE, literal, plain, quoted};

/// Brackets in brackets.
const DEPTH_MAX: usize = 50;

/// What stands on one side of a comparison.
#[derive(Clone, Debug)]
enum Operand {
    Property(String),
    Texts(Vec<String>),
}

/// Reads an expression up to `then`; the reader stands behind it afterwards. The error is why it has no
/// filter.
pub fn expression(reader: &mut Reader<'_>) -> Result<String, NoCounterpart> {
    Expression { reader, depth: 0 }.or()
}

struct Expression<'r, 't> {
    reader: &'r mut Reader<'t>,
    depth: usize,
}

impl Expression<'_, '_> {
    fn or(&mut self) -> Result<String, NoCounterpart> {
        let mut parts = vec![self.and()?];
        loop {
            self.reader.space();
            if !self.reader.take_word("or") {
                return Ok(joined(parts, " or "));
            }
            parts.push(self.and()?);
        }
    }

    fn and(&mut self) -> Result<String, NoCounterpart> {
        let mut parts = vec![self.not()?];
        loop {
            self.reader.space();
            if !self.reader.take_word("and") {
                return Ok(joined(parts, " and "));
            }
            parts.push(self.not()?);
        }
    }

    fn not(&mut self) -> Result<String, NoCounterpart> {
        self.reader.space();
        if !(self.reader.take_word("not") || self.reader.rest().starts_with("!(") && self.reader.take("!")) {
            return self.comparison();
        }
        self.reader.space();
        let is_of_one_side = self.reader.rest().starts_with(['$', '"', '\'']);
        let denied = self.not()?;
        match is_of_one_side {
            // It holds never, or always; hardly anybody means that.
            true => Err("`not` belongs to what stands right behind it, not to the comparison: \
                         that needs brackets"
                .into()),
            false => Ok(format!("not {}", in_brackets(&denied))),
        }
    }

    fn comparison(&mut self) -> Result<String, NoCounterpart> {
        self.reader.space();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("brackets too deep".into());
        }
        let made = self.comparison_here();
        self.depth -= 1;
        made
    }

    fn comparison_here(&mut self) -> Result<String, NoCounterpart> {
        if self.reader.take("(") {
            let inner = self.or()?;
            self.reader.space();
            return match self.reader.take(")") {
                true => Ok(in_brackets(&inner)),
                false => Err("a bracket without its end".into()),
            };
        }
        if self.reader.rest().starts_with(|c: char| c.is_alphabetic()) {
            return self.function();
        }
        let left = self.operand()?;
        self.reader.space();
        let operator = self.operator()?;
        self.reader.space();
        let right = self.operand()?;
        match (left, right) {
            (Operand::Property(name), Operand::Texts(texts)) => compared(&name, &operator, &texts),
            (Operand::Texts(texts), Operand::Property(name)) if matches!(operator.as_str(), "==" | "!=") => {
                compared(&name, &operator, &texts)
            }
            _ => Err("a comparison of two properties, or of two texts".into()),
        }
    }

    fn function(&mut self) -> Result<String, NoCounterpart> {
        let name = self.reader.word().to_lowercase();
        let inside = self.reader.balanced('(', ')');
        let inside = inside.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
        let mut args = Reader::new(inside);
        args.space();
        match name.as_str() {
            "prifilt" => {
                let selector = args.string().ok_or("prifilt() without a text")?;
                let made = selectors::filter(&selector)?;
                Ok(if made.is_empty() { "level(debug..emerg)".to_owned() } else { made })
            }
            "re_match" | "re_match_i" => {
                let property = args.word().trim_start_matches('$').to_owned();
                args.space();
                args.take(",");
                args.space();
                let pattern = args.string().ok_or("re_match() without a pattern")?;
                let flags = if name.ends_with("_i") { " flags(ignore-case)" } else { "" };
                matched(&property, &pattern, flags)
            }
            other => Err(format!("the function {other}()").into()),
        }
    }

    fn operand(&mut self) -> Result<Operand, NoCounterpart> {
        if self.reader.rest().starts_with('$') {
            return Ok(Operand::Property(self.reader.word().trim_start_matches('$').to_lowercase()));
        }
        let is_text = self.reader.rest().starts_with(|c: char| c.is_ascii_digit() || "'\"[-".contains(c));
        let values = if is_text { self.reader.values() } else { None };
        Ok(values.map(Operand::Texts).ok_or_else(|| {
            let shown: String = self.reader.rest().chars().take(20).take_while(|c| *c != '\n').collect();
            format!("`{shown}` in a condition")
        })?)
    }

    fn operator(&mut self) -> Result<String, NoCounterpart> {
        for sign in ["==", "!=", "<>", "<=", ">=", "<", ">"] {
            if self.reader.take(sign) {
                let sign = if sign == "<>" { "!=" } else { sign };
                return Ok(sign.to_owned());
            }
        }
        let not = if self.reader.take("!") { "!" } else { "" };
        let word = self.reader.word().to_lowercase();
        match word.as_str() {
            "contains" | "contains_i" | "startswith" | "startswith_i" | "endswith" | "isequal" => {
                Ok(format!("{not}{word}"))
            }
            other => Err(format!("the operator `{other}`").into()),
        }
    }
}

fn joined(parts: Vec<String>, word: &str) -> String {
    match parts.as_slice() {
        [one] => one.clone(),
        several => several.iter().map(|part| in_brackets(part)).collect::<Vec<_>>().join(word),
    }
}

/// An expression as a part of another.
pub fn in_brackets(text: &str) -> String {
    let is_whole = text.starts_with('(') && Reader::new(text).balanced('(', ')').len() == text.len();
    let is_joined = text.contains(" and ") || text.contains(" or ");
    if is_joined && !is_whole { format!("({text})") } else { text.to_owned() }
}

/// `:msg, contains, "x"`
pub fn property(name: &str, operation: &str, text: &str) -> Result<String, NoCounterpart> {
    let (is_not, operation) = operation.strip_prefix('!').map_or((false, operation), |rest| (true, rest));
    let name = name.trim_start_matches('$').to_lowercase();
    let made = match operation.trim().to_lowercase().as_str() {
        "isempty" => compared(&name, "==", &[String::new()]),
        "regex" => matched(&name, &extended(text), ""),
        "ereregex" => matched(&name, text, ""),
        other @ ("contains" | "isequal" | "startswith" | "endswith") => {
            compared(&name, other, &[text.to_owned()])
        }
        other => Err(format!("the comparison `{other}`").into()),
    }?;
    Ok(if is_not { format!("not {}", in_brackets(&made)) } else { made })
}

/// A basic regular expression as an extended one: the signs that need a backslash there need none here.
fn extended(pattern: &str) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(sign @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) => out.push(sign),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '(' | ')' | '{' | '}' | '|' | '+' | '?' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn compared(name: &str, operator: &str, texts: &[String]) -> Result<String, NoCounterpart> {
    let (is_not, operator) = match operator.strip_prefix('!') {
        Some("=") => (true, "=="),
        Some(rest) => (true, rest),
        None => (false, operator),
    };
    let each = texts.iter().map(|text| one_compared(name, operator, text)).collect::<Result<Vec<_>, _>>()?;
    let made = joined(each, " or ");
    Ok(if is_not { format!("not {}", in_brackets(&made)) } else { made })
}

fn one_compared(name: &str, operator: &str, text: &str) -> Result<String, NoCounterpart> {
    let is_equal = matches!(operator, "==" | "isequal");
    match (name, operator) {
        ("syslogfacility-text", _) if is_equal => {
            let known = selectors::facility(text).ok_or_else(|| format!("there is no facility `{text}`"))?;
            return Ok(format!("facility({known})"));
        }
        ("syslogseverity-text" | "syslogpriority-text", _) if is_equal => {
            let number = selectors::level(text).ok_or_else(|| format!("there is no level `{text}`"))?;
            return Ok(selectors::by_numbers(|level| level == number));
        }
        ("syslogseverity" | "syslogpriority", _) => {
            let number: u8 = text.trim().parse().map_err(|_| format!("the severity `{text}`"))?;
            let fits =
                in_order(operator).ok_or_else(|| format!("the comparison `{operator}` of severities"))?;
            return Ok(selectors::by_numbers(|level| fits(level, number)));
        }
        ("syslogfacility", _) => {
            let number: u8 = text.trim().parse().map_err(|_| format!("the facility `{text}`"))?;
            let fits =
                in_order(operator).ok_or_else(|| format!("the comparison `{operator}` of facilities"))?;
            return Ok(selectors::facilities(|facility| fits(facility, number)));
        }
        _ => {}
    }
    let is_with_blank = match operator {
        "contains" | "contains_i" | "endswith" => text.starts_with(' '),
        _ => true,
    };
    let place = place(name, is_with_blank)?;
    if is_equal && matches!(name, "programname" | "app-name") {
        // To rsyslog the name of `postfix/smtpd[3]` is postfix.
        let pattern = single(&format!("^{}(/|$)", escaped(text)))?;
        return Ok(format!("match({pattern} {})", place.argument()));
    }
    let searched = |text: &str, flags: &str| {
        format!("match({} {} type(string) flags({flags}))", quoted(text), place.argument())
    };
    Ok(match operator {
        "==" | "isequal" => format!("{} eq {}", quoted(&place.text()), literal(text)),
        "contains" => searched(text, "substring"),
        "contains_i" => searched(text, "substring ignore-case"),
        "startswith" => searched(text, "prefix"),
        "startswith_i" => searched(text, "prefix ignore-case"),
        "endswith" => format!("match({} {})", single(&format!("{}$", escaped(text)))?, place.argument()),
        other => return Err(format!("the comparison `{other}` of %{name}%").into()),
    })
}

fn matched(name: &str, pattern: &str, flags: &str) -> Result<String, NoCounterpart> {
    let begins_inside =
        pattern.starts_with(|c: char| c.is_ascii_alphanumeric()) && !pattern.contains(['^', '|']);
    Ok(format!("match({} {}{flags})", single(pattern)?, place(name, !begins_inside)?.argument()))
}

/// What a comparison of two numbers says.
fn in_order(operator: &str) -> Option<fn(u8, u8) -> bool> {
    Some(match operator {
        "==" | "isequal" => |a, b| a == b,
        "<" => |a, b| a < b,
        "<=" => |a, b| a <= b,
        ">" => |a, b| a > b,
        ">=" => |a, b| a >= b,
        _ => return None,
    })
}

/// A pattern in single quotes, as it is; in double ones where it has single ones in it.
fn single(pattern: &str) -> Result<String, NoCounterpart> {
    Ok(if pattern.contains('\'') { quoted(pattern) } else { format!("'{}'", plain(pattern)) })
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| ["\\.+*?()|[]{}^$".contains(c).then_some('\\'), Some(c)]).flatten().collect()
}

/// Where a property stands in a message of ours.
enum Counterpart {
    Value(&'static str),
    Template(&'static str),
}

impl Counterpart {
    fn argument(&self) -> String {
        match self {
            Counterpart::Value(name) => format!("value(\"{name}\")"),
            Counterpart::Template(text) => format!("template({})", quoted(text)),
        }
    }

    fn text(&self) -> String {
        match self {
            Counterpart::Value(name) => format!("${{{name}}}"),
            Counterpart::Template(text) => (*text).to_owned(),
        }
    }
}

/// A message has the blank behind the tag in front of it where that matters.
fn place(name: &str, is_with_blank: bool) -> Result<Counterpart, NoCounterpart> {
    Ok(match name {
        "msg" if is_with_blank => Counterpart::Template(MESSAGE),
        "msg" => Counterpart::Value("MESSAGE"),
        "programname" | "app-name" => Counterpart::Value("PROGRAM"),
        "hostname" | "source" => Counterpart::Value("HOST"),
        "procid" => Counterpart::Value("PID"),
        "msgid" => Counterpart::Value("MSGID"),
        "fromhost" => Counterpart::Value("HOST_FROM"),
        "fromhost-ip" => Counterpart::Template("${SOURCEIP}"),
        "syslogtag" => Counterpart::Template("$(strip ${MSGHDR})"),
        "rawmsg" => Counterpart::Template("${RAWMSG}"),
        "pri" => Counterpart::Template("${PRI}"),
        "pri-text" => Counterpart::Template("${FACILITY}.${LEVEL}"),
        "syslogfacility-text" => Counterpart::Template("${FACILITY}"),
        "syslogseverity-text" | "syslogpriority-text" => Counterpart::Template("${LEVEL}"),
        other => return Err(format!("the property ${other}").into()),
    })
}

#[cfg(test)]
mod tests {
    use super::{expression, property};
    use crate::convert::reader::Reader;

    #[test]
    fn expressions_are_filters() {
        for (text, expected) in [
            ("$programname == 'sshd' then", "match('^sshd(/|$)' value(\"PROGRAM\"))"),
            (
                "$programname == ['a', 'b'] then",
                "match('^a(/|$)' value(\"PROGRAM\")) or match('^b(/|$)' value(\"PROGRAM\"))",
            ),
            (
                "$msg contains \"x\" and not ($hostname startswith 'web') then",
                "match(\"x\" value(\"MESSAGE\") type(string) flags(substring)) and not match(\"web\" value(\"HOST\") type(string) flags(prefix))",
            ),
            (
                "$syslogseverity <= 4 or $syslogfacility-text == 'mail' then",
                "level(warning..emerg) or facility(mail)",
            ),
            ("($fromhost-ip != '127.0.0.1') then", "not \"${SOURCEIP}\" eq \"127.0.0.1\""),
            ("re_match($msg, '^ a\\.b') then", "match('^ a\\.b' template(\"$(template t_msg)\"))"),
            ("re_match($msg, 'a\\.b') then", "match('a\\.b' value(\"MESSAGE\"))"),
            ("$msg == 'a' then", "\"$(template t_msg)\" eq \"a\""),
            (
                "$msg contains ' a' then",
                "match(\" a\" template(\"$(template t_msg)\") type(string) flags(substring))",
            ),
            ("$syslogtag == 'app:' then", "\"$(strip ${MSGHDR})\" eq \"app:\""),
            ("not ($syslogfacility >= 22) then", "not facility(local6, local7)"),
            ("prifilt(\"mail.err\") then", "facility(mail) and level(err..emerg)"),
        ] {
            assert_eq!(expression(&mut Reader::new(text)).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "$!json!x == 'a' then",
            "lookup('a', $msg) == 'b' then",
            "$msg == $hostname then",
            "( $msg == 'a'",
            "not $msg contains 'a' then",
        ] {
            assert!(expression(&mut Reader::new(text)).is_err(), "{text}");
        }
        assert!(expression(&mut Reader::new(&"(".repeat(100_000))).is_err());
    }

    #[test]
    fn property_filters_are_filters() {
        for ((name, operation, text), expected) in [
            (("msg", "contains", "x"), "match(\"x\" value(\"MESSAGE\") type(string) flags(substring))"),
            (("programname", "!isequal", "x"), "not match('^x(/|$)' value(\"PROGRAM\"))"),
            (("msg", "regex", "a\\(b\\)c+"), "match('a(b)c\\+' value(\"MESSAGE\"))"),
            (("hostname", "ereregex", "^web[0-9]+"), "match('^web[0-9]+' value(\"HOST\"))"),
        ] {
            assert_eq!(property(name, operation, text).as_deref(), Ok(expected), "{name} {operation}");
        }
        assert!(property("nosuch", "contains", "x").is_err());
        assert!(property("msg", "nosuch", "x").is_err());
    }
}
