//! Replies of mail servers: lines that begin with one code, the last of them with a blank behind it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    /// Of each line what stands behind the code.
    pub lines: Vec<String>,
}

/// What is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The most bytes of a reply.
pub const REPLY_BYTES_MAX: usize = 64 << 10;

impl Reply {
    pub fn is_good(&self) -> bool {
        (200..400).contains(&self.code)
    }

    /// The server will say the same the next time.
    pub fn is_final(&self) -> bool {
        (500..600).contains(&self.code)
    }

    /// Whether EHLO was answered with this word, and what stands behind it.
    pub fn offers(&self, word: &str) -> Option<&str> {
        self.lines.iter().skip(1).find_map(|line| {
            let (name, rest) = line.split_once([' ', '=']).unwrap_or((line, ""));
            name.eq_ignore_ascii_case(word).then_some(rest)
        })
    }

    /// For the log and dead letters.
    pub fn words(&self) -> String {
        format!("{} {}", self.code, self.lines.join(" "))
    }
}

/// The first reply and the bytes that it takes; `None` while it is not whole.
pub fn read(bytes: &[u8]) -> Result<Option<(Reply, usize)>, Malformed> {
    let mut reply = Reply { code: 0, lines: Vec::new() };
    let mut taken = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        taken += line.len();
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let (code, rest) = text.split_at_checked(3).ok_or(Malformed)?;
        let code =
            std::str::from_utf8(code).ok().and_then(|code| code.parse::<u16>().ok()).ok_or(Malformed)?;
        if !(200..600).contains(&code) || (!reply.lines.is_empty() && reply.code != code) {
            return Err(Malformed);
        }
        reply.code = code;
        let (mark, words) = rest.split_first().unwrap_or((&b' ', &[]));
        reply.lines.push(String::from_utf8_lossy(words).into_owned());
        match mark {
            b' ' => return Ok(Some((reply, taken))),
            b'-' => {}
            _ => return Err(Malformed),
        }
    }
    if bytes.len() > REPLY_BYTES_MAX { Err(Malformed) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn replies() {
        let text = b"250-host\r\n250-SIZE 1000\r\n250-AUTH PLAIN LOGIN\r\n250 STARTTLS\r\n220 x\r\n";
        let (reply, taken) = read(text).expect("good").expect("whole");
        assert_eq!((reply.code, taken), (250, text.len() - 7));
        assert_eq!(
            (reply.offers("size"), reply.offers("STARTTLS"), reply.offers("DSN")),
            (Some("1000"), Some(""), None)
        );
        assert_eq!(reply.offers("AUTH"), Some("PLAIN LOGIN"));
        assert_eq!(read(b"250\r\n").map(|reply| reply.map(|(reply, _)| reply.code)), Ok(Some(250)));
        assert_eq!((read(b"250-a\r\n250 b"), read(b"")), (Ok(None), Ok(None)));
        for wrong in [&b"25\r\n"[..], b"abc d\r\n", b"250-a\r\n251 b\r\n", b"250x\r\n", b"999 x\r\n", b"\n"] {
            assert_eq!(read(wrong), Err(Malformed), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_said_is_read(code in 200u16..600, lines in proptest::collection::vec("[ -~]{0,20}", 1..5)) {
            let mut text = String::new();
            for (at, line) in lines.iter().enumerate() {
                let mark = if at + 1 == lines.len() { ' ' } else { '-' };
                text.push_str(&format!("{code}{mark}{line}\r\n"));
            }
            for cut in 0..text.len() {
                prop_assert_eq!(read(&text.as_bytes()[..cut]), Ok(None));
            }
            prop_assert_eq!(read(text.as_bytes()), Ok(Some((Reply { code, lines }, text.len()))));
        }

        #[test]
        fn foreign_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(Some((_, taken))) = read(&bytes) {
                prop_assert!(taken <= bytes.len());
            }
        }
    }
}
