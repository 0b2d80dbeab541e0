//! A server for the cases of gRPC: it takes whatever is called, writes down which messages it had, and
//! answers with an empty message and status 0. HTTP/2 as far as that needs it: what headers say is not looked
//! at.

use crate::sink;
use crate::stamps::Stamps;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// `grpc-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("grpc-sink", args, |stream, out, _| serve(stream, out))
}

const PREFACE: usize = 24;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
/// Bytes that may be on the way on a stream and on the connection.
const WINDOW: u32 = 64 << 20;
/// `:status: 200` of the static table; `content-type: application/grpc` without indexing.
const HEAD: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// `grpc-status: 0` without indexing.
const TRAILER: &[u8] = b"\x00\x0bgrpc-status\x010";
/// A message of no bytes, not compressed.
const EMPTY: &[u8] = &[0; 5];

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

fn serve(mut stream: &TcpStream, mut out: File) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(256 * 1024, stream);
    let mut answer = Vec::new();
    // Streams may be long: SETTINGS_INITIAL_WINDOW_SIZE, and the same for the connection.
    let window = [&[0, 4][..], &WINDOW.to_be_bytes()].concat();
    frame(&mut answer, SETTINGS, 0, 0, &window);
    frame(&mut answer, WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes());
    stream.write_all(&answer)?;
    reader.read_exact(&mut [0; PREFACE])?;
    let (mut head, mut payload) = ([0; 9], Vec::new());
    let mut open: HashMap<u32, Vec<u8>> = HashMap::new();
    let mut stamps = Stamps::default();
    loop {
        reader.read_exact(&mut head)?;
        let [a, b, c, kind, flags, s, t, u, v] = head;
        payload.resize(u32::from_be_bytes([0, a, b, c]) as usize, 0);
        reader.read_exact(&mut payload)?;
        let number = u32::from_be_bytes([s & 0x7f, t, u, v]);
        answer.clear();
        match kind {
            SETTINGS if flags & ACK == 0 => frame(&mut answer, SETTINGS, ACK, 0, &[]),
            PING if flags & ACK == 0 => frame(&mut answer, PING, ACK, 0, &payload),
            HEADERS => drop(open.insert(number, Vec::new())),
            DATA if !payload.is_empty() => {
                if let Some(body) = open.get_mut(&number) {
                    body.extend_from_slice(&payload);
                }
                let taken = (payload.len() as u32).to_be_bytes();
                frame(&mut answer, WINDOW_UPDATE, 0, 0, &taken);
                frame(&mut answer, WINDOW_UPDATE, 0, number, &taken);
            }
            _ => {}
        }
        if matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0 {
            out.write_all(stamps.of(&open.remove(&number).unwrap_or_default()).0)?;
            frame(&mut answer, HEADERS, END_HEADERS, number, HEAD);
            frame(&mut answer, DATA, 0, number, EMPTY);
            frame(&mut answer, HEADERS, END_HEADERS | END_STREAM, number, TRAILER);
        }
        stream.write_all(&answer)?;
    }
}
