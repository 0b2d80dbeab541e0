//! A server for the cases of redis(): it takes commands, writes down which messages they have, and replies to
//! each with a number.

use crate::sink;
use crate::stamps::Stamps;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// `redis-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("redis-sink", args, |stream, out, _| serve(stream, out))
}

/// What a word may have.
const WORD_BYTES_MAX: usize = 64 << 20;

fn serve(mut stream: &TcpStream, mut out: File) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(256 * 1024, stream);
    let (mut line, mut command, mut lines, mut replies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut stamps = Stamps::default();
    loop {
        let words = number(&mut reader, &mut line)?;
        command.clear();
        for _ in 0..words {
            let bytes = number(&mut reader, &mut line)?.min(WORD_BYTES_MAX);
            let from = command.len();
            command.resize(from + bytes + 2, 0);
            reader.read_exact(&mut command[from..])?;
        }
        lines.extend_from_slice(stamps.of(&command).0);
        replies.extend_from_slice(b":1\r\n");
        // The rest of what came is answered with it.
        if reader.buffer().is_empty() {
            out.write_all(&lines)?;
            stream.write_all(&replies)?;
            lines.clear();
            replies.clear();
        }
    }
}

/// The number of a line, behind its sign.
fn number(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    line.clear();
    if reader.read_until(b'\n', line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let digits = line.iter().filter(|byte| byte.is_ascii_digit());
    Ok(digits.fold(0usize, |n, digit| n.saturating_mul(10).saturating_add(usize::from(digit - b'0'))))
}
