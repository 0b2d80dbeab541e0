//! A server for the cases of mongodb(): it takes inserts, writes down which messages they have, and says how
//! many documents there were. It keeps nothing.

use crate::sink;
use crate::stamps::Stamps;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// `mongodb-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("mongodb-sink", args, |stream, out, _| serve(stream, out))
}

const HEADER: usize = 16;
const REPLY: u32 = 1;
const QUERY: u32 = 2004;
const MSG: u32 = 2013;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn serve(mut stream: &TcpStream, mut out: File) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(256 * 1024, stream);
    let (mut head, mut body) = ([0; HEADER], Vec::new());
    let mut stamps = Stamps::default();
    loop {
        reader.read_exact(&mut head)?;
        body.resize((u32_at(&head, 0) as usize).saturating_sub(HEADER), 0);
        reader.read_exact(&mut body)?;
        let code = u32_at(&head, 12);
        let documents = if code == MSG { documents(&body) } else { 0 };
        out.write_all(stamps.of(&body).0)?;
        let document = if documents > 0 { written(documents) } else { hello() };
        let (code, front) = match code {
            QUERY => (REPLY, [&[8, 0, 0, 0][..], &[0; 12], &[1, 0, 0, 0]].concat()),
            _ => (MSG, vec![0; 5]),
        };
        let length = (HEADER + front.len() + document.len()) as u32;
        let mut answer = Vec::new();
        for number in [length, 0, u32_at(&head, 4), code] {
            answer.extend_from_slice(&number.to_le_bytes());
        }
        answer.extend(front);
        answer.extend(document);
        stream.write_all(&answer)?;
    }
}

/// Documents in the sequence of a message, which stands before or behind the command.
fn documents(body: &[u8]) -> u32 {
    let mut at = 4;
    while let Some(kind) = body.get(at) {
        let length = u32_at(body, at + 1) as usize;
        if length < 5 {
            return 0;
        }
        if *kind == 1 {
            let section = body.get(at + 5..at + 1 + length).unwrap_or_default();
            let name = section.iter().position(|byte| *byte == 0).map_or(section.len(), |end| end + 1);
            let (mut next, mut count) = (name, 0);
            while next + 4 < section.len() {
                next += (u32_at(section, next) as usize).max(5);
                count += 1;
            }
            return count;
        }
        at += 1 + length;
    }
    0
}

fn bson(elements: &[u8]) -> Vec<u8> {
    let length = (elements.len() + 5) as u32;
    [&length.to_le_bytes()[..], elements, &[0]].concat()
}

fn int(name: &str, value: u32) -> Vec<u8> {
    [&[0x10], name.as_bytes(), &[0], &value.to_le_bytes()].concat()
}

fn ok() -> Vec<u8> {
    [&b"\x01ok\0"[..], &1f64.to_le_bytes()].concat()
}

fn written(count: u32) -> Vec<u8> {
    bson(&[int("n", count), ok()].concat())
}

/// A server of version 7 that stands alone.
fn hello() -> Vec<u8> {
    let sizes = [
        int("maxBsonObjectSize", 16 << 20),
        int("maxMessageSizeBytes", 48_000_000),
        int("maxWriteBatchSize", 100_000),
        int("minWireVersion", 0),
        int("maxWireVersion", 21),
    ];
    let yes = |name: &str| [&[0x08], name.as_bytes(), &[0, 1]].concat();
    bson(&[yes("ismaster"), yes("isWritablePrimary"), yes("helloOk"), sizes.concat(), ok()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_sequence_are_counted() {
        let command = bson(&ok());
        let document = bson(&int("n", 1));
        let sequence = [&b"documents\0"[..], &document, &document].concat();
        let length = (sequence.len() as u32 + 4).to_le_bytes();
        let body = [&[0; 4][..], &[0], &command, &[1], &length, &sequence].concat();
        assert_eq!(documents(&body), 2);
        let body = [&[0; 4][..], &[1], &length, &sequence, &[0], &command].concat();
        assert_eq!(documents(&body), 2);
        assert_eq!((documents(&[0; 5]), documents(&[])), (0, 0));
    }
}
