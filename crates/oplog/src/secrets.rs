//! What is never said: passwords and tokens that a configuration has from files. Wherever this program
//! speaks, in its log, in answers and reports, they are replaced by the words that stand for them.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

/// Secrets that are remembered; those of many reloads, the oldest go first.
const COUNT_MAX: usize = 1000;

/// Secret, and what is shown in its place. Longer ones first: one may be the beginning of another.
static HIDDEN: RwLock<Vec<(String, String)>> = RwLock::new(Vec::new());
static ANY: AtomicBool = AtomicBool::new(false);

/// From now on `shown` stands wherever `secret` would be said, also where it is written with the escapes of
/// strings and of JSON.
pub fn hide(secret: &str, shown: &str) {
    let escaped = secret.replace('\\', "\\\\").replace('"', "\\\"");
    let mut hidden = HIDDEN.write();
    for text in [secret, &escaped] {
        if !text.is_empty() && hidden.iter().all(|(known, _)| known != text) {
            hidden.push((text.to_owned(), shown.to_owned()));
        }
    }
    let beyond = hidden.len().saturating_sub(COUNT_MAX);
    hidden.drain(..beyond);
    hidden.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    ANY.store(true, Ordering::Release);
}

/// The text with what stands for each secret in the place of it.
pub fn hidden(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if ANY.load(Ordering::Acquire) {
        for (secret, shown) in HIDDEN.read().iter() {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), shown));
            }
        }
    }
    text
}

/// How many bytes at the end of a text that was cut are the beginning of a secret.
pub fn begun(text: &[u8]) -> usize {
    if !ANY.load(Ordering::Acquire) {
        return 0;
    }
    HIDDEN.read().iter().map(|(secret, _)| begun_of(secret, text)).max().unwrap_or(0)
}

/// The same for one secret.
pub fn begun_of(secret: &str, text: &[u8]) -> usize {
    let secret = secret.as_bytes();
    let most = secret.len().saturating_sub(1).min(text.len());
    let begins = |length: &usize| secret.get(..*length).is_some_and(|begin| text.ends_with(begin));
    (1..=most).rev().find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_however_they_are_written() {
        hide("pass\"word\\1", "`file:/run/p`");
        hide("pass", "`file:/run/q`");
        assert_eq!(hidden("a pass\"word\\1 b"), "a `file:/run/p` b");
        assert_eq!(hidden(r#"{"x":"pass\"word\\1"}"#), r#"{"x":"`file:/run/p`"}"#);
        assert_eq!(hidden("a pass b"), "a `file:/run/q` b");
        assert!(matches!(hidden("nothing"), Cow::Borrowed(_)));
        assert_eq!([begun(b"a pass\"wo"), begun(b"pas"), begun(b"x")], [7, 3, 0]);
        assert_eq!(begun_of("abcabd", b"abcab"), 5);
        assert_eq!((begun_of("ab", b"xab"), begun_of("aba", b"ab"), begun_of("", b"")), (0, 2, 0));
    }
}
