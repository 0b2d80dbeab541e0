//! Frames: a command, headers, a body, a NUL (STOMP 1.2).

/// Of a frame from the server.
const FRAME_BYTES_MAX: usize = 64 * 1024;

/// It is no frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub command: &'a [u8],
    headers: &'a [u8],
    pub body: &'a [u8],
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

impl Frame<'_> {
    /// The first header of a name, without its escapes.
    pub fn header(&self, name: &str) -> Option<String> {
        let value =
            lines(self.headers).find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))?;
        let text = String::from_utf8_lossy(value);
        Some(text.replace("\\c", ":").replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\"))
    }
}

/// The first frame and its length; `None` when more is needed. Line ends between frames are a part of
/// the next one.
pub fn frame(bytes: &[u8]) -> Result<Option<(Frame<'_>, usize)>, Malformed> {
    let skipped = bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let rest = bytes.get(skipped..).unwrap_or_default();
    let window = rest.get(..FRAME_BYTES_MAX).unwrap_or(rest);
    let too_long = if window.len() == FRAME_BYTES_MAX { Err(Malformed) } else { Ok(None) };
    let Some((head, body)) = head_of(window) else { return too_long };
    let (command, headers) = match head.iter().position(|byte| *byte == b'\n') {
        Some(at) => (head.get(..at).unwrap_or_default(), head.get(at + 1..).unwrap_or_default()),
        None => (head, &[][..]),
    };
    let command = command.strip_suffix(b"\r").unwrap_or(command);
    if command.is_empty() || !command.iter().all(u8::is_ascii_uppercase) {
        return Err(Malformed);
    }
    let mut frame = Frame { command, headers, body: &[] };
    let length = match frame.header("content-length") {
        Some(length) => length.trim().parse::<usize>().map_err(|_| Malformed)?,
        None => match window.get(body..).unwrap_or_default().iter().position(|byte| *byte == 0) {
            Some(end) => end,
            None => return too_long,
        },
    };
    match body.checked_add(length).map(|end| (end, window.get(end))) {
        Some((end, Some(0))) => {
            frame.body = window.get(body..end).unwrap_or_default();
            Ok(Some((frame, skipped + end + 1)))
        }
        Some((end, None)) if end < FRAME_BYTES_MAX => too_long,
        _ => Err(Malformed),
    }
}

/// Command and headers, and where the body begins.
fn head_of(window: &[u8]) -> Option<(&[u8], usize)> {
    let mut start = 0;
    loop {
        let end = start + window.get(start..)?.iter().position(|byte| *byte == b'\n')?;
        let line = window.get(start..end)?;
        if start > 0 && matches!(line, b"" | b"\r") {
            return Some((window.get(..start)?, end + 1));
        }
        start = end + 1;
    }
}

/// Appends a header. What would end its name or line is escaped.
pub fn header(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    escaped(out, name);
    out.push(b':');
    escaped(out, value);
    out.push(b'\n');
}

fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b':' => out.extend_from_slice(b"\\c"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            // It would end the frame.
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            byte => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames() {
        let check = |text: &str, command: &str, message: Option<&str>| {
            let with_more = format!("{text}NEXT");
            let Ok(Some((found, length))) = frame(with_more.as_bytes()) else { panic!("{text:?}") };
            assert_eq!((found.command, length), (command.as_bytes(), text.len()), "{text:?}");
            assert_eq!(found.header("message").as_deref(), message, "{text:?}");
            assert_eq!(found.body, if message.is_some() { &b"a\0b"[..] } else { b"" }, "{text:?}");
            for cut in 0..text.len() {
                assert_eq!(frame(&text.as_bytes()[..cut]), Ok(None), "{:?}", &text[..cut]);
            }
        };
        check("CONNECTED\nversion:1.2\n\n\0", "CONNECTED", None);
        check("\n\r\nRECEIPT\r\nreceipt-id:7\r\n\r\n\0", "RECEIPT", None);
        check("ERROR\nmessage:a\\cb\ncontent-length:3\n\na\0b\0", "ERROR", Some("a:b"));
        for wrong in [
            "connected\n\n\0",
            "HTTP/1.1 400\n\n\0",
            "ERROR\ncontent-length:x\n\n\0",
            "A\ncontent-length:0\n\nxx",
        ] {
            assert_eq!(frame(wrong.as_bytes()), Err(Malformed), "{wrong:?}");
        }
        assert_eq!(frame(&[b'A'; FRAME_BYTES_MAX]), Err(Malformed));
    }

    #[test]
    fn headers_have_no_ends_of_lines() {
        let mut out = Vec::new();
        header(&mut out, b"a:b", b"x\ny\\z\0");
        assert_eq!(out, "a\\cb:x\\ny\\\\z\u{fffd}\n".as_bytes());
    }
}
