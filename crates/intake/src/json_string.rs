//! Strings of JSON as sources find them in requests.

use std::borrow::Cow;

/// The text of a JSON string with its quotes; of anything else that text. Half a surrogate pair, which some
/// clients write for bytes that are no text, is U+FFFD.
pub fn string(raw: &str) -> Cow<'_, str> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => plain.into(),
        Some(_) => match serde_json::from_str::<String>(raw) {
            Ok(text) => text.into(),
            Err(_) => serde_json::from_str::<String>(&without_halves(raw)).unwrap_or_default().into(),
        },
        None => raw.into(),
    }
}

/// The same JSON with `\ufffd` where half a pair stands.
fn without_halves(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (before, escaped) = rest.split_at(at);
        text.push_str(before);
        let length = match (unit(escaped), escaped.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                text.push_str("\\ufffd");
                rest = escaped.get(6..).unwrap_or_default();
                continue;
            }
            (Some(_), _) => 6,
            // The character behind the backslash belongs to it, whatever it is.
            (None, _) => 1 + escaped.get(1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8),
        };
        let (whole, behind) = escaped.split_at(length.min(escaped.len()));
        text.push_str(whole);
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// The number in `\u1234` at the beginning.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        for (raw, text) in [
            ("\"a\"", "a"),
            ("\"a\\n\\u00e9\"", "a\n\u{e9}"),
            ("5", "5"),
            ("\"\\ud83d\\ude00\"", "\u{1f600}"),
            ("\"a\\ud800b\"", "a\u{fffd}b"),
            ("\"\\udc80\\ud83d\\ude00\\ud83d\"", "\u{fffd}\u{1f600}\u{fffd}"),
            ("\"\\ud800\\ud83d\\ude00\"", "\u{fffd}\u{1f600}"),
            ("\"\\\\ud800\\ud800\"", "\\ud800\u{fffd}"),
            ("\"\\\"é\\ud800\"", "\"é\u{fffd}"),
        ] {
            assert_eq!(string(raw), text, "{raw}");
        }
    }
}
