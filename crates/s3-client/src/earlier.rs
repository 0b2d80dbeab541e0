//! Finds the object that an earlier run has made of messages before one.

use crate::answer::{element, elements, unescaped};
use crate::name::encoded;
use crate::speaker::Ask;
use crate::upload::Speakers;
use flight::Outcome;
use http_client::Method;

/// Numbers that are looked back at first; sixteen times as many each time there is nothing.
const BACK: u64 = 1 << 12;
/// As names have them.
const DIGITS: usize = 16;

/// The last object whose name begins with `before` and has a number below `first`; none where nobody may
/// look.
pub async fn find(
    speakers: &mut Speakers,
    bucket: &str,
    before: &[u8],
    first: u64,
) -> Result<Option<String>, Outcome> {
    if first == 0 {
        return Ok(None);
    }
    let mut back = BACK;
    loop {
        let found = between(speakers, bucket, before, first.saturating_sub(back)..first).await?;
        if found.is_some() || back >= first {
            return Ok(found);
        }
        back = back.saturating_mul(16);
    }
}

async fn between(
    speakers: &mut Speakers,
    bucket: &str,
    before: &[u8],
    numbers: std::ops::Range<u64>,
) -> Result<Option<String>, Outcome> {
    let mut after = before.to_vec();
    after.extend_from_slice(format!("{:0DIGITS$}", numbers.start).as_bytes());
    let mut last: Option<String> = None;
    loop {
        let (prefix, start) = (encoded(before, false), encoded(&after, false));
        let query = format!("list-type=2&prefix={prefix}&start-after={start}");
        let answer = speakers.ask(Ask::new(Method::GET, bucket).query(query)).await?;
        if !answer.is_success() {
            return Ok(None);
        }
        let (known, is_whole) = (last.clone(), element(&answer.body, "IsTruncated") != Some("true"));
        for key in elements(&answer.body, "Key").into_iter().map(unescaped) {
            match number(&key, before) {
                Some(number) if number >= numbers.end => return Ok(last),
                Some(number) if number >= numbers.start => last = Some(key),
                _ => {}
            }
        }
        if is_whole || last == known {
            return Ok(last);
        }
        if let Some(key) = &last {
            after = key.as_bytes().to_vec();
        }
    }
}

/// The number in the name of an object.
fn number(key: &str, before: &[u8]) -> Option<u64> {
    let rest = key.as_bytes().strip_prefix(before)?.get(..DIGITS)?;
    std::str::from_utf8(rest).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names() {
        assert_eq!(number("a/b-0c-0000000000000591.log.gz", b"a/b-0c-"), Some(591));
        assert_eq!(number("a/b-0d-0000000000000591.log", b"a/b-0c-"), None);
        assert_eq!(number("a/b-0c-00591.log", b"a/b-0c-"), None);
        assert_eq!(number("a/b-0c-0000000000\u{e9}\u{e9}\u{e9}.log", b"a/b-0c-"), None);
    }
}
