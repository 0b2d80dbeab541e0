//! Lines of a configuration as they may be shown: passwords, tokens and the like are blotted out.

use control::Refusal;
use oplog::SECRET_WORDS;
use std::ops::Range;

/// A value that everybody knows is no secret, and stands in many messages.
const KNOWN: &str = "public";
/// What secrets may stand in beside other things: of these the whole value, when it has such a word.
const CARRIERS: [&str; 4] = ["headers", "config", "auth", "options"];
/// `user:password@host` without a scheme before it.
const PROXIES: [&str; 2] = ["proxy", "http-proxy"];
const BLOT: &str = "\"***\"";

/// A word that is shorter may stand anywhere and mean nothing.
const WORD_BYTES_MIN: usize = 5;

/// Takes the secrets of a configuration out of whatever is said about messages.
#[derive(Clone, Default)]
pub struct Veil(Vec<String>);

impl Veil {
    /// Of the texts of a configuration.
    pub fn of(texts: &[&str]) -> Veil {
        let mut words: Vec<String> = texts.iter().flat_map(|text| values(text)).collect();
        // As it stands in JSON.
        let escaped = |word: &String| word.replace('\\', "\\\\").replace('"', "\\\"");
        words.extend(words.iter().map(escaped).collect::<Vec<String>>());
        Veil::longest_first(words)
    }

    fn longest_first(mut words: Vec<String>) -> Veil {
        words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        Veil(words)
    }

    /// The text without them, and without what is hidden everywhere.
    pub fn over(&self, text: &str) -> String {
        let mut text = oplog::hidden(text).into_owned();
        for word in self.0.iter().filter(|word| word.len() >= WORD_BYTES_MIN) {
            if text.contains(word.as_str()) {
                text = text.replace(word.as_str(), "***");
            }
        }
        text
    }

    /// The same of bytes, of which not all need be text. Where they were cut, the beginning of a secret at
    /// the end goes too: nobody would know it again.
    pub fn over_bytes(&self, bytes: &[u8], is_cut: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(self.over(chunk.valid()).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        if is_cut {
            let own = self.0.iter().map(|word| oplog::begun_of(word, &out)).max().unwrap_or(0);
            out.truncate(out.len() - own.max(oplog::begun(&out)));
        }
        out
    }

    /// What both are over.
    pub fn and(&self, other: &Veil) -> Veil {
        Veil::longest_first(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// The same of an answer, whichever it is.
    pub fn over_answer(&self, answer: Result<String, Refusal>) -> Result<String, Refusal> {
        answer.map(|text| self.over(&text)).map_err(|refusal| refusal.reworded(|text| self.over(text)))
    }
}

/// The text with every secret in it replaced.
pub fn blotted(text: &str) -> String {
    blotted_and_found(text).0
}

/// The text with stars in the place of each secret, byte for byte, so that every place in it stays where it
/// is. Quotes and blanks stay, too; a value that is never closed ends with its line.
pub fn starred(text: &str) -> String {
    let end_in_line = |value: &str| match closing(value) {
        end if end == value.len() => value.find('\n').unwrap_or(end),
        end => end,
    };
    let is_open = |place: &Range<usize>| {
        let value = text.get(place.clone()).unwrap_or_default();
        let strings = strings(value);
        value.starts_with('`') || !strings.is_empty() && strings.iter().all(|word| word == KNOWN)
    };
    let mut bytes = text.as_bytes().to_vec();
    let in_brackets = in_brackets(text, end_in_line).into_iter().filter(|place| !is_open(place));
    for place in in_brackets.chain(oplog::in_urls(text).into_iter().map(|secret| secret.place)) {
        for byte in bytes.get_mut(place).into_iter().flatten() {
            if !matches!(byte, b'"' | b'\'' | b' ' | b'\t' | b'\r' | b'\n') {
                *byte = b'*';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| "*".repeat(text.len()))
}

/// The words of a text that are secrets: what [`blotted`] takes out, longer ones first.
fn values(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for value in blotted_and_found(text).1 {
        // What the strings say; without quotes, the word.
        let strings = strings(&value);
        match strings.is_empty() {
            true => words.push(value.trim().to_owned()),
            false => words.extend(strings),
        }
    }
    // `Authorization: Bearer TOKEN`: the token alone is one too.
    let parts: Vec<String> =
        words.iter().filter_map(|word| Some(word.rsplit_once([' ', '='])?.1.to_owned())).collect();
    words.extend(parts);
    words.retain(|word| word.len() >= WORD_BYTES_MIN && !word.starts_with('`') && word != KNOWN);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.dedup();
    words
}

/// What stands between quotes, with escapes taken off.
fn strings(text: &str) -> Vec<String> {
    let (mut found, mut open, mut escaped) = (Vec::new(), None::<(char, String)>, false);
    for c in text.chars() {
        match &mut open {
            None if matches!(c, '"' | '\'') => open = Some((c, String::new())),
            None => {}
            Some((_, word)) if escaped => {
                escaped = false;
                word.push(c);
            }
            Some(('"', _)) if c == '\\' => escaped = true,
            Some((quote, _)) if c == *quote => found.extend(open.take().map(|(_, word)| word)),
            Some((_, word)) => word.push(c),
        }
    }
    found.extend(open.map(|(_, word)| word));
    found
}

/// Also the values that were taken out.
fn blotted_and_found(text: &str) -> (String, Vec<String>) {
    let places = in_brackets(text, closing);
    let mut found: Vec<String> =
        places.iter().filter_map(|place| Some(text.get(place.clone())?.to_owned())).collect();
    let out = replaced(text, places, BLOT);
    let of_urls = oplog::in_urls(&out);
    let words = of_urls.iter().filter_map(|secret| out.get(secret.word.clone()?));
    found.extend(words.map(|word| format!("\"{word}\"")));
    let places = of_urls.into_iter().map(|secret| secret.place);
    (replaced(&out, places, oplog::BLOT), found)
}

/// The text with `blot` in each place.
fn replaced(text: &str, places: impl IntoIterator<Item = Range<usize>>, blot: &str) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for place in places {
        out.push_str(text.get(at..place.start).unwrap_or_default());
        out.push_str(blot);
        at = place.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Where the values of options stand that are secrets; `end` says where a value ends.
fn in_brackets(text: &str, end: impl Fn(&str) -> usize) -> Vec<Range<usize>> {
    let (mut places, mut begin) = (Vec::new(), 0);
    let has_secret = |text: &str| SECRET_WORDS.iter().any(|word| text.contains(word));
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    while let Some(at) = text.get(begin..).and_then(|rest| rest.find('(')) {
        let before = text.get(begin..begin + at).unwrap_or_default().trim_end();
        let name_start = before
            .rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
            .map_or(0, |at| at + before.get(at..).and_then(|c| c.chars().next()).map_or(1, char::len_utf8));
        let name = plain(before.get(name_start..).unwrap_or_default());
        begin += at + 1;
        let is_named = has_secret(&name);
        let is_proxy = PROXIES.contains(&name.as_str());
        if !is_named && !is_proxy && !CARRIERS.contains(&name.as_str()) {
            continue;
        }
        let after = text.get(begin..).unwrap_or_default();
        let value = after.get(..end(after)).unwrap_or(after);
        let lower = plain(value);
        let is_secret = is_named && !value.is_empty()
            || is_proxy && lower.contains('@') && !lower.contains("://")
            || !is_named && !is_proxy && (has_secret(&lower) || name == "auth" && !lower.contains('('));
        if is_secret {
            places.push(begin..begin + value.len());
            begin += value.len();
        }
    }
    places
}

/// Where the bracket closes that was opened before the text; strings may have brackets in them.
fn closing(text: &str) -> usize {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => return at,
            (None, ')') => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{Veil, blotted, starred, values};

    #[test]
    fn the_words_that_were_taken_out() {
        let check = |text: &str, expected: &[&str]| assert_eq!(values(text), expected, "{text}");
        check("http(password(\"a)bc\\\"d\") user(\"user\"))", &["a)bc\"d"]);
        check("hec(tokens(\"first\" 'second') port(1))", &["second", "first"]);
        check(
            "http(headers(\"Authorization: Bearer zyxwv\") url(\"http://u:passw@h/\"))",
            &["Authorization: Bearer zyxwv", "passw", "zyxwv"],
        );
        check("http(url(\"http://h/?token=abcdef&index=main\"))", &["abcdef"]);
        check("snmp(community('public')) snmp(community('known'))", &["known"]);
        check("password(\"abc\") password(`file:/x`) password(plain)", &["plain"]);
        let veil = Veil::of(&["password(\"a\\\"bcdef\")"]);
        assert_eq!(veil.over("{\"x\":\"a\\\"bcdef\"} a\"bcdef"), "{\"x\":\"***\"} ***");
        let veil = veil.and(&Veil::of(&["password(\"\u{e4}\u{f6}\u{fc}\")"]));
        let over = |bytes: &[u8], is_cut| veil.over_bytes(bytes, is_cut);
        assert_eq!(over(b"\xffa\"bcdef\xff a\"bcd", false), b"\xff***\xff a\"bcd");
        assert_eq!(over(b"\xffa\"bcdef\xff a\"bcd", true), b"\xff***\xff ");
        assert_eq!(over("x\u{e4}\u{f6}".as_bytes().split_last().expect("bytes").1, true), b"x");
        assert_eq!(over(b"a\"bcdef", true), b"***");
    }

    #[test]
    fn marks_stay_below_what_they_mark() {
        let report = "x.conf:1:2: error[O0101]: `http()` has no option `prot()`\n    \
                      1 | http(password(\"hunter2\") prot(9))\n      |                          ^^^^\n";
        assert_eq!(starred(report), report.replace("hunter2", "*******"));
        let cut = "1 | ...user(u) token(\"abcdefgh...\n2 | log { source(plain); };\n";
        assert!(starred(cut).ends_with("2 | log { source(plain); };\n"), "{}", starred(cut));
        assert!(!starred(cut).contains("abcdefgh"));
    }

    #[test]
    fn stars_stand_for_every_byte_of_a_secret() {
        let check = |text: &str, expected: &str| assert_eq!(starred(text), expected, "{text}");
        check("password(\"a\\\"bcdef\") x", "password(\"**\"*****\") x");
        check("password(\"abc\") passwd(\"\u{e4}b\")", "password(\"***\") passwd(\"***\")");
        check("password(\n  \"hunter2\"\n) user(\"u\")", "password(\n  \"*******\"\n) user(\"u\")");
        check("url(\"http://u:pw@h/?key=k\")", "url(\"http://****@h/?key=*\")");
        check("community(\"public\") password(`file:/x`)", "community(\"public\") password(`file:/x`)");
        check("token(\"ab\nuser(u) token(\"cd\")", "token(\"**\nuser(u) token(\"**\")");
    }

    #[test]
    fn secrets_are_blotted_out_and_nothing_else() {
        let check = |text: &str, expected: &str| assert_eq!(blotted(text), expected, "{text}");
        check("destination d { file(\"/a(b)\"); };", "destination d { file(\"/a(b)\"); };");
        check(
            "http(url(\"http://u:p@h:1/x\") password(\"a)b\") user(\"u\"))",
            "http(url(\"http://***@h:1/x\") password(\"***\") user(\"u\"))",
        );
        check("hec(tokens(\"a\" \"b\") port(1))", "hec(tokens(\"***\") port(1))");
        check("webhook(auth_token('x') port(1))", "webhook(auth_token(\"***\") port(1))");
        check(
            "http(headers(\"X: y\") headers(\"Authorization: Bearer z\"))",
            "http(headers(\"X: y\") headers(\"***\"))",
        );
        check("kafka(config(sasl.password(\"x\") a(\"b\")))", "kafka(config(\"***\"))");
        check("redis(auth(\"u\" \"p\"))", "redis(auth(\"***\"))");
        check(
            "tls(key-file(\"/k\") trusted-keys(\"SHA1:00\"))",
            "tls(key-file(\"/k\") trusted-keys(\"SHA1:00\"))",
        );
        check("http(proxy(\"u:p@h:1\") proxy(\"h:1\"))", "http(proxy(\"***\") proxy(\"h:1\"))");
        check("password(", "password(");
        check("password(\"never closed", "password(\"***\"");
    }
}
