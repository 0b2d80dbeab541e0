//! Replies, as far as anybody wants to know: whether it is an error, and how long it is.

use memchr::memchr;

#[derive(Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// Whatever it is that a command gives: its text, where it has one of its own.
    Good(&'a [u8]),
    /// A line without its end.
    Error(&'a [u8]),
}

/// It is no reply of Redis.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// A line of a reply: a status, an error, a length.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Arrays within arrays.
const DEPTH_MAX: usize = 8;

/// The first reply of `bytes` and its length; `None` when more is needed. An error within an array is not one
/// of the command.
pub fn reply(bytes: &[u8]) -> Result<Option<(Reply<'_>, usize)>, Malformed> {
    let Some((kind, line, mut end)) = line(bytes, 0)? else { return Ok(None) };
    match kind {
        b'-' => return Ok(Some((Reply::Error(line), end))),
        b'+' | b':' => return Ok(Some((Reply::Good(line), end))),
        _ => {}
    }
    // Of arrays that are not at their end, the items that are to come.
    let mut open: Vec<u64> = Vec::new();
    let (mut kind, mut line_of) = (kind, line);
    let mut text: &[u8] = &[];
    loop {
        match kind {
            b'+' | b':' | b'-' => {}
            b'$' => match length(line_of)? {
                None => {}
                Some(length) => {
                    let begin = end;
                    end = usize::try_from(length)
                        .ok()
                        .and_then(|length| begin.checked_add(length)?.checked_add(2))
                        .ok_or(Malformed)?;
                    match bytes.get(end - 2..end) {
                        Some(b"\r\n") if open.is_empty() => {
                            text = bytes.get(begin..end - 2).unwrap_or_default()
                        }
                        Some(b"\r\n") => {}
                        Some(_) => return Err(Malformed),
                        None => return Ok(None),
                    }
                }
            },
            b'*' => {
                if open.len() >= DEPTH_MAX {
                    return Err(Malformed);
                }
                open.push(length(line_of)?.unwrap_or(0) + 1);
            }
            _ => return Err(Malformed),
        }
        // This item is whole: so is the array that it was the last one of, and so on.
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            open.pop();
        }
        if open.is_empty() {
            return Ok(Some((Reply::Good(text), end)));
        }
        let Some((next, text, after)) = self::line(bytes, end)? else { return Ok(None) };
        (kind, line_of, end) = (next, text, after);
    }
}

/// The kind of what begins there, the rest of its line, and where the line ends.
type Line<'a> = (u8, &'a [u8], usize);

fn line(bytes: &[u8], from: usize) -> Result<Option<Line<'_>>, Malformed> {
    let Some((kind, rest)) = bytes.get(from..).and_then(<[u8]>::split_first) else { return Ok(None) };
    let window = rest.get(..LINE_BYTES_MAX).unwrap_or(rest);
    match memchr(b'\n', window) {
        Some(at) => match window.get(..at).and_then(|line| line.strip_suffix(b"\r")) {
            Some(line) => Ok(Some((*kind, line, from + at + 2))),
            None => Err(Malformed),
        },
        None if window.len() == LINE_BYTES_MAX => Err(Malformed),
        None => Ok(None),
    }
}

/// The number of a line; `None` for -1, which is nothing.
fn length(line: &[u8]) -> Result<Option<u64>, Malformed> {
    if line == b"-1" {
        return Ok(None);
    }
    let digits = std::str::from_utf8(line).map_err(|_| Malformed)?;
    let number: u64 = digits.parse().map_err(|_| Malformed)?;
    match number <= 512 << 20 {
        true => Ok(Some(number)),
        false => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Reply<'_>) {
        let with_more = format!("{text}+next");
        assert_eq!(reply(with_more.as_bytes()), Ok(Some((expected, text.len()))), "{text:?}");
        for cut in 0..text.len() {
            assert_eq!(reply(&text.as_bytes()[..cut]), Ok(None), "{:?}", &text[..cut]);
        }
    }

    #[test]
    fn replies() {
        check("+OK\r\n", Reply::Good(b"OK"));
        check(":1000\r\n", Reply::Good(b"1000"));
        check("$-1\r\n", Reply::Good(b""));
        check("$0\r\n\r\n", Reply::Good(b""));
        check("$5\r\na\r\nbc\r\n", Reply::Good(b"a\r\nbc"));
        check("-ERR no\r\n", Reply::Error(b"ERR no"));
        check("*0\r\n", Reply::Good(b""));
        check("*-1\r\n", Reply::Good(b""));
        check("*2\r\n:1\r\n-ERR inner\r\n", Reply::Good(b""));
        check("*2\r\n*2\r\n$1\r\na\r\n*0\r\n*1\r\n+x\r\n", Reply::Good(b""));
    }

    #[test]
    fn what_is_none() {
        for text in
            ["HTTP/1.1 400\r\n", "+a\n", "$x\r\n", "$1\r\nab\r\n", "$99999999999\r\n", "*2\r\n:1\r\n?\r\n"]
        {
            assert_eq!(reply(text.as_bytes()), Err(Malformed), "{text:?}");
        }
        assert_eq!(reply("*1\r\n".repeat(9).as_bytes()), Err(Malformed));
        assert_eq!(reply(&[b'+'; LINE_BYTES_MAX + 1]), Err(Malformed));
    }
}
