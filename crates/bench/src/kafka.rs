//! A broker for the cases of kafka(): it takes record batches as Kafka does, writes the values to a file and
//! says that it has them. It keeps nothing else, so that what is measured beside it is the collector. For the
//! source it keeps the batches instead.

mod log;

use crate::sink;
use log::Log;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;

/// `kafka-sink PORT FILE`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    sink::run("kafka-sink", args, |stream, out, port| {
        Connection { stream, out, port, log: None }.answer_all()
    })
}

/// `kafka-log PORT FILE`: the same, and what is written can be read again. The file stays empty.
pub fn keep(args: &[OsString]) -> ExitCode {
    sink::run("kafka-log", args, |stream, out, port| {
        Connection { stream, out, port, log: Some(&log::LOG) }.answer_all()
    })
}

struct Connection<'a> {
    stream: &'a TcpStream,
    out: File,
    port: u16,
    log: Option<&'static Log>,
}

/// What is left of a request. What is not there reads as nothing.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at_checked(length).unwrap_or((self.0, &[]));
        self.0 = rest;
        head
    }

    fn number(&mut self, length: usize) -> i64 {
        let bytes = self.take(length);
        let begin = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
        bytes.iter().fold(begin, |n, byte| n << 8 | i64::from(*byte))
    }

    fn text(&mut self) -> &'a [u8] {
        let length = self.number(2).max(0) as usize;
        self.take(length)
    }

    fn varint(&mut self) -> i64 {
        let (mut n, mut shift) = (0u64, 0);
        while let [byte] = self.take(1) {
            n |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 56 {
                break;
            }
        }
        (n >> 1) as i64 ^ -((n & 1) as i64)
    }
}

impl Connection<'_> {
    fn answer_all(mut self) -> std::io::Result<()> {
        let mut reader = BufReader::with_capacity(64 * 1024, self.stream);
        let (mut length, mut request, mut values) = ([0; 4], Vec::new(), Vec::new());
        loop {
            reader.read_exact(&mut length)?;
            request.resize(u32::from_be_bytes(length) as usize, 0);
            reader.read_exact(&mut request)?;
            let mut input = Input(&request);
            let (api, _, correlation) = (input.number(2), input.number(2), input.number(4) as i32);
            input.text();
            values.clear();
            let body = match api {
                0 => self.produce(&mut input, &mut values),
                1 => self.log.map_or_else(Vec::new, |log| log.fetch(&mut input)),
                2 => self.log.map_or_else(Vec::new, |log| log.offsets(&mut input)),
                3 => self.metadata(&mut input),
                22 => vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0],
                _ => versions(),
            };
            self.out.write_all(&values)?;
            let mut answer = ((body.len() + 4) as i32).to_be_bytes().to_vec();
            answer.extend(correlation.to_be_bytes());
            answer.extend(body);
            self.stream.write_all(&answer)?;
        }
    }

    /// One broker, one partition of each topic.
    fn metadata(&self, input: &mut Input<'_>) -> Vec<u8> {
        let count = input.number(4) as i32;
        let mut out = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 9];
        out.extend(b"127.0.0.1");
        out.extend(i32::from(self.port).to_be_bytes());
        out.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7]);
        out.extend(count.to_be_bytes());
        for _ in 0..count {
            let topic = input.text();
            out.extend([0, 0]);
            out.extend((topic.len() as i16).to_be_bytes());
            out.extend(topic);
            out.extend([
                0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 7,
            ]);
        }
        out
    }

    /// Gathers the values of a request to write, version 8, each with a newline.
    fn produce(&self, input: &mut Input<'_>, values: &mut Vec<u8>) -> Vec<u8> {
        input.text();
        input.take(6);
        let mut out = Vec::new();
        each(input, &mut out, |input, out| {
            let partition = input.number(4) as i32;
            let length = input.number(4).max(0) as usize;
            let batches = input.take(length);
            match self.log {
                Some(log) => log.append(batches),
                None => records(batches, values),
            }
            out.extend(partition.to_be_bytes());
            out.extend([0; 30]);
            out.extend([0xff, 0xff]);
        });
        out.extend([0; 4]);
        out
    }
}

/// The partitions of each topic; the answer names them again.
fn each<'a>(input: &mut Input<'a>, out: &mut Vec<u8>, mut one: impl FnMut(&mut Input<'a>, &mut Vec<u8>)) {
    let topics = input.number(4) as i32;
    out.extend(topics.to_be_bytes());
    for _ in 0..topics {
        let topic = input.text();
        let partitions = input.number(4) as i32;
        out.extend((topic.len() as i16).to_be_bytes());
        out.extend(topic);
        out.extend(partitions.to_be_bytes());
        for _ in 0..partitions {
            one(input, out);
        }
    }
}

fn versions() -> Vec<u8> {
    let mut out = vec![0, 0, 0, 0, 0, 6];
    for (api, most) in [(0i16, 8i16), (1, 4), (2, 2), (3, 4), (18, 0), (22, 1)] {
        [api, 0, most].iter().for_each(|n| out.extend(n.to_be_bytes()));
    }
    out
}

/// Those of a batch; of one that cannot be unpacked nothing, and the case fails.
fn records(batch: &[u8], values: &mut Vec<u8>) {
    let mut input = Input(batch);
    input.take(21);
    let codec = input.number(2) & 7;
    input.take(34);
    let count = input.number(4);
    let unpacked = match codec {
        3 => unpacked(lz4_flex::frame::FrameDecoder::new(input.0)),
        4 => zstd(input.0),
        _ => input.0.to_vec(),
    };
    input = Input(&unpacked);
    for _ in 0..count {
        let length = input.varint().max(0) as usize;
        let mut record = Input(input.take(length));
        record.take(1);
        record.varint();
        record.varint();
        let key = record.varint().max(0) as usize;
        record.take(key);
        let value = record.varint().max(0) as usize;
        values.extend_from_slice(record.take(value));
        values.push(b'\n');
    }
}

fn unpacked(mut packed: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    match packed.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

/// What the most of a batch comes to.
const BATCH_BYTES_MAX: usize = 64 << 20;

fn zstd(packed: &[u8]) -> Vec<u8> {
    let known = zstd_safe::get_frame_content_size(packed).ok().flatten();
    let mut bytes = Vec::with_capacity(known.map_or(BATCH_BYTES_MAX, |n| n as usize).min(BATCH_BYTES_MAX));
    match zstd_safe::decompress(&mut bytes, packed) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}
