//! What an answer says, and what it means for a batch.

use flight::Outcome;
use http_client::Answer;

/// The text of the first element of that name, without a look at what stands around it.
pub fn element<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    whole_element(body, name).map(str::trim)
}

/// The same with its blanks, which belong to the names of objects.
pub fn whole_element<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    behind.split_once(&format!("</{name}>")).map(|(inner, _)| inner)
}

/// The texts of all elements of that name.
pub fn elements<'a>(body: &'a [u8], name: &str) -> Vec<&'a str> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let text = std::str::from_utf8(body).unwrap_or_default();
    text.split(&begin).skip(1).filter_map(|rest| Some(rest.split_once(&end)?.0.trim())).collect()
}

/// A text as it was before it became XML.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let known = behind.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        rest = match known {
            Some((c, after)) => {
                out.push(c);
                after
            }
            None => {
                out.push('&');
                behind
            }
        };
    }
    out.push_str(rest);
    out
}

/// What stands for a character in XML, without `&` and `;`.
fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// Codes that new credentials may mend.
pub fn is_of_account(answer: &Answer) -> bool {
    matches!(
        element(&answer.body, "Code"),
        Some("ExpiredToken" | "InvalidToken" | "InvalidAccessKeyId" | "TokenRefreshRequired")
    )
}

/// Of an answer that is no success. There is nothing in the bytes of an object that a server could dislike:
/// it is never the messages.
pub fn outcome(answer: &Answer) -> Outcome {
    let words = answer.words();
    match (answer.status, element(&answer.body, "Code").unwrap_or_default()) {
        (_, "KeyTooLongError") => Outcome::Refused(words),
        (413, _) | (_, "EntityTooLarge") => Outcome::Split(words),
        // A success whose body is an error; another request for the same name; an upload that somebody ended.
        (200..=299 | 408 | 429 | 500..=599, _)
        | (_, "ConditionalRequestConflict" | "OperationAborted" | "RequestTimeout" | "NoSuchUpload") => {
            Outcome::Again { after: answer.retry_after, counts: false, why: words }
        }
        _ => Outcome::Hold(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_errors() {
        let body = b"<?xml?><Error><Code>NoSuchBucket</Code><Message>m</Message></Error>";
        assert_eq!(element(body, "Code"), Some("NoSuchBucket"));
        assert_eq!(
            (element(b"<Code>x", "Code"), element(b"\xff", "Code"), element(b"", "Code")),
            (None, None, None)
        );
        assert_eq!(elements(b"<a><K>1</K><K> 2 </K><K>3", "K"), ["1", "2"]);
    }

    #[test]
    fn characters_of_xml() {
        assert_eq!(unescaped("a&amp;lt;&lt;b&gt;&quot;&#34;&#x22;&apos;"), "a&lt;<b>\"\"\"'");
        assert_eq!(unescaped("&&nbsp;&#xd800;&#1114112;& a;&"), "&&nbsp;&#xd800;&#1114112;& a;&");
    }

    proptest! {
        #[test]
        fn what_was_escaped_comes_back(text in "[a-z&<>\"'#;]{0,20}") {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
            prop_assert_eq!(unescaped(&escaped), text);
        }

        #[test]
        fn what_was_put_in_comes_out(texts in proptest::collection::vec("[a-z0-9 .]{1,9}", 1..5)) {
            let body: String = texts.iter().map(|text| format!("<U><Key>{text}</Key></U>")).collect();
            let trimmed: Vec<&str> = texts.iter().map(|text| text.trim()).collect();
            prop_assert_eq!(elements(body.as_bytes(), "Key"), trimmed.clone());
            prop_assert_eq!(element(body.as_bytes(), "Key"), trimmed.first().copied());
        }

        #[test]
        fn foreign_bytes_do_no_harm(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(elements(&body, "Key").len() <= body.len());
            let _ = element(&body, "Code");
        }
    }
}
