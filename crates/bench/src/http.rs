//! A server for the cases of HTTP: it writes down which messages the bodies of requests have and answers as
//! the service would that is asked. It keeps nothing else, so that what is measured beside it is the
//! collector.

use crate::sink;
use crate::stamps::Stamps;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// What a request may have in front of its body.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
/// What the longest batch may have, and a bound for whoever else sends something.
const BODY_BYTES_MAX: usize = 64 << 20;

/// `http-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("http-sink", args, |stream, out, _| answer_all(stream, out))
}

/// Of a request what its answer depends on.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    line: String,
    body_bytes: usize,
    /// It waits for a word before it sends the body.
    waits: bool,
}

fn answer_all(mut stream: &TcpStream, mut out: File) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, stream);
    let (mut body, mut stamps) = (Vec::new(), Stamps::default());
    while let Some(asked) = head(&mut reader)? {
        if asked.waits {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        body.resize(asked.body_bytes, 0);
        reader.read_exact(&mut body)?;
        let (lines, count) = stamps.of(&body);
        out.write_all(lines)?;
        let answer = answer(&asked.line, count);
        let head = format!("HTTP/1.1 200 OK\r\nETag: \"bench\"\r\nContent-Length: {}\r\n\r\n", answer.len());
        stream.write_all(&[head.as_bytes(), &answer].concat())?;
    }
    Ok(())
}

/// What the service says of `count` messages.
fn answer(line: &str, count: usize) -> Vec<u8> {
    const ITEM: &str = "{\"index\":{\"status\":201}}";
    let text = if line.contains("/services/collector") {
        "{\"text\":\"Success\",\"code\":0}".to_owned()
    } else if line.contains("/_bulk") {
        format!("{{\"errors\":false,\"items\":[{}]}}", vec![ITEM; count].join(","))
    } else if line.starts_with("POST") && line.contains("?uploads") {
        "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>".to_owned()
    } else if line.starts_with("POST") && line.contains("uploadId=") {
        "<CompleteMultipartUploadResult><ETag>bench</ETag></CompleteMultipartUploadResult>".to_owned()
    } else {
        String::new()
    };
    text.into_bytes()
}

/// The next request's head; `None`: there is none.
fn head(reader: &mut impl BufRead) -> std::io::Result<Option<Asked>> {
    let (mut head, mut line) = (reader.take(HEAD_BYTES_MAX), String::new());
    let mut asked = Asked::default();
    loop {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return if asked.line.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
        }
        if asked.line.is_empty() {
            asked.line = line.trim_end().to_owned();
            continue;
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(Some(asked)) };
        if name.eq_ignore_ascii_case("content-length") {
            let bytes = value.trim().parse().ok().filter(|bytes| *bytes <= BODY_BYTES_MAX);
            asked.body_bytes = bytes.ok_or_else(|| Error::other("a length that is none"))?;
        }
        asked.waits |= name.eq_ignore_ascii_case("expect");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_requests() {
        let check = |text: &str, expected: Option<(&str, usize, bool)>| {
            let expected =
                expected.map(|(line, body_bytes, waits)| Asked { line: line.into(), body_bytes, waits });
            assert_eq!(head(&mut text.as_bytes()).expect("a head"), expected, "{text}");
        };
        check("", None);
        let text = "POST / HTTP/1.1\r\nHost: a:1\r\nContent-Length: 12\r\n\r\n";
        check(text, Some(("POST / HTTP/1.1", 12, false)));
        check("GET / HTTP/1.1\r\n\r\n", Some(("GET / HTTP/1.1", 0, false)));
        let text = "PUT /b/k HTTP/1.1\r\nexpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
        check(text, Some(("PUT /b/k HTTP/1.1", 1, true)));
        assert!(head(&mut &b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"[..]).is_err());
        assert!(head(&mut &b"POST / HTTP/1.1\r\n"[..]).is_err());
    }

    #[test]
    fn answers_of_services() {
        let said = |line: &str| String::from_utf8(answer(line, 2)).expect("text");
        assert_eq!(said("POST / HTTP/1.1"), "");
        assert!(said("POST /services/collector/event? HTTP/1.1").ends_with("\"code\":0}"));
        assert_eq!(said("POST /_bulk HTTP/1.1").matches("201").count(), 2);
        assert!(said("POST /b/k?uploads HTTP/1.1").contains("<UploadId>"));
    }
}
