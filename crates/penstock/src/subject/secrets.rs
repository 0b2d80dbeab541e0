//! Lines of a configuration as they may be shown: passwords, tokens and the like are blotted out.

/// An option whose name has one of these in it has a secret for its value.
const WORDS: [&str; 8] =
    ["password", "passwd", "passphrase", "token", "secret", "api-key", "authorization", "credential"];
/// What secrets may stand in beside other things: of these the whole value, when it has such a word.
const CARRIERS: [&str; 4] = ["headers", "config", "auth", "options"];
const BLOT: &str = "\"***\"";

/// The text with every secret in it replaced.
pub fn blotted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        let (before, after) = rest.split_at(at + 1);
        let name_start = before
            .trim_end_matches('(')
            .trim_end()
            .rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
            .map_or(0, |at| at + 1);
        let name = before.get(name_start..).unwrap_or_default().trim_end_matches('(').trim();
        let name = name.to_ascii_lowercase().replace('_', "-");
        out.push_str(before);
        let value = after.get(..closing(after)).unwrap_or(after);
        let lower = value.to_ascii_lowercase().replace('_', "-");
        let has_secret = |text: &str| WORDS.iter().any(|word| text.contains(word));
        let is_secret = has_secret(&name) && !value.is_empty()
            || CARRIERS.contains(&name.as_str()) && (has_secret(&lower) || name == "auth");
        if is_secret {
            out.push_str(BLOT);
            rest = after.get(value.len()..).unwrap_or_default();
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
    without_user_info(&out)
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

/// `scheme://user:password@host` without the part before the `@`.
fn without_user_info(text: &str) -> String {
    let mut parts = text.split("://");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['/', '"', '\'', ' ', ')', '?']).unwrap_or(part.len());
        let (authority, rest) = part.split_at(end);
        out.push_str("://");
        match authority.rsplit_once('@') {
            Some((_, host)) => {
                out.push_str("***@");
                out.push_str(host);
            }
            None => out.push_str(authority),
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::blotted;

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
        check("password(", "password(");
        check("password(\"never closed", "password(\"***\"");
    }
}
