//! A server for the cases of sql(): it takes rows by COPY as PostgreSQL does, writes them to a file with
//! blanks between the columns and says that it has them. It keeps nothing else, so that what is measured
//! beside it is the collector.

use crate::sink;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// `postgres-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("postgres-sink", args, |stream, out, _| Connection { stream, out, rows: 0 }.serve())
}

struct Connection {
    stream: TcpStream,
    out: File,
    /// Of the COPY in hand.
    rows: usize,
}

/// Ready, outside of a transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";
/// No columns, which makes the collector make them, or rows of text in any columns.
const NO_PARAMETERS: &[u8] = b"t\0\0\0\x06\0\0";
const NO_DATA: &[u8] = b"n\0\0\0\x04";
const COPY_IN: &[u8] = b"G\0\0\0\x07\0\0\0";

fn complete(tag: &str) -> Vec<u8> {
    let mut out = vec![b'C'];
    out.extend((tag.len() as u32 + 5).to_be_bytes());
    out.extend(tag.as_bytes());
    out.push(0);
    out
}

impl Connection {
    fn serve(mut self) {
        // The sender is told nothing: it would wait, and the case fails.
        let _ = self.answer_all();
    }

    fn answer_all(&mut self) -> std::io::Result<()> {
        let mut reader = BufReader::with_capacity(64 * 1024, self.stream.try_clone()?);
        let (mut length, mut kind, mut body) = ([0; 4], [0], Vec::new());
        reader.read_exact(&mut length)?;
        read(&mut reader, length, &mut body)?;
        self.stream.write_all(&[&b"R\0\0\0\x08\0\0\0\0"[..], READY].concat())?;
        loop {
            reader.read_exact(&mut kind)?;
            reader.read_exact(&mut length)?;
            read(&mut reader, length, &mut body)?;
            let answer = match kind[0] {
                b'Q' => [complete("OK"), READY.to_vec()].concat(),
                b'P' => b"1\0\0\0\x04".to_vec(),
                b'D' => [NO_PARAMETERS, NO_DATA].concat(),
                b'B' => b"2\0\0\0\x04".to_vec(),
                b'E' => COPY_IN.to_vec(),
                b'd' => {
                    self.take(&mut body)?;
                    continue;
                }
                b'c' => complete(&format!("COPY {}", std::mem::take(&mut self.rows))),
                b'C' => b"3\0\0\0\x04".to_vec(),
                b'S' => READY.to_vec(),
                b'X' => return Ok(()),
                _ => continue,
            };
            self.stream.write_all(&answer)?;
        }
    }

    fn take(&mut self, rows: &mut [u8]) -> std::io::Result<()> {
        for byte in rows.iter_mut() {
            match byte {
                b'\t' => *byte = b' ',
                b'\n' => self.rows += 1,
                _ => {}
            }
        }
        self.out.write_all(rows)
    }
}

/// What stands behind a length, which counts itself.
fn read(reader: &mut impl Read, length: [u8; 4], body: &mut Vec<u8>) -> std::io::Result<()> {
    body.resize((u32::from_be_bytes(length) as usize).saturating_sub(4), 0);
    reader.read_exact(body)
}
