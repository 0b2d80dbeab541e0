//! A server for the cases of http(): it writes the bodies of requests to a file, a line end behind each, and
//! says that it has them. It keeps nothing else, so that what is measured beside it is the collector.

use crate::sink;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// What a request may have in front of its body.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
/// What the longest batch may have, and a bound for whoever else sends something.
const BODY_BYTES_MAX: usize = 64 << 20;
const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// `http-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("http-sink", args, |stream, out, _| {
        // Whoever sends something else waits.
        let _ = answer_all(&stream, out);
    })
}

fn answer_all(mut stream: &TcpStream, mut out: File) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, stream);
    let mut body = Vec::new();
    while let Some(bytes) = length(&mut reader)? {
        body.resize(bytes, 0);
        reader.read_exact(&mut body)?;
        body.push(b'\n');
        out.write_all(&body)?;
        stream.write_all(TAKEN)?;
    }
    Ok(())
}

/// The length of the next request's body; `None`: there is none.
fn length(reader: &mut impl BufRead) -> std::io::Result<Option<usize>> {
    let (mut head, mut line) = (reader.take(HEAD_BYTES_MAX), String::new());
    let mut length = 0;
    let mut is_first = true;
    loop {
        line.clear();
        match head.read_line(&mut line)? {
            0 if is_first => return Ok(None),
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            _ => is_first = false,
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            match line.trim_end() {
                "" => return Ok(Some(length)),
                _ => continue,
            }
        };
        if name.eq_ignore_ascii_case("content-length") {
            let bytes = value.trim().parse().ok().filter(|bytes| *bytes <= BODY_BYTES_MAX);
            length = bytes.ok_or_else(|| Error::other("a length that is none"))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_bodies() {
        let check = |text: &str, expected: Option<usize>| {
            assert_eq!(length(&mut text.as_bytes()).expect("a head"), expected, "{text}");
        };
        check("", None);
        check("POST / HTTP/1.1\r\nHost: a:1\r\nContent-Length: 12\r\n\r\n", Some(12));
        check("GET / HTTP/1.1\r\n\r\n", Some(0));
        assert!(length(&mut &b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"[..]).is_err());
        assert!(length(&mut &b"POST / HTTP/1.1\r\n"[..]).is_err());
    }
}
