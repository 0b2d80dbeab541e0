//! `inspect`: the records of a store, one a line.

use super::{open, told};
use crate::queue::output::time;
use logstore::{BROKEN, COMPRESSED, Chunk, ENCRYPTED, Record, SERIALIZED, stamp};
use std::path::Path;
use stdio::CommandError;

pub fn inspect(path: &Path) -> Result<bool, CommandError> {
    let mut reader = open(path)?;
    let header = &reader.header;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    stdio::out!(
        "{}: LST{}, digest {}, cipher {}, {} chunks, {} messages, certificate: {}",
        path.display(),
        header.version,
        text(&header.hash),
        if header.certificate.is_empty() { "none".to_owned() } else { text(&header.cipher) },
        header.chunks,
        header.messages,
        if header.certificate.is_empty() {
            "none".to_owned()
        } else {
            format!("{} bytes", header.certificate.len())
        }
    );
    loop {
        match reader.next_record() {
            Ok(Some((at, bytes))) => line(at, bytes),
            Ok(None) => return Ok(true),
            Err(error) => return Err(told(path, &error).into()),
        }
    }
}

fn line(at: u64, bytes: &[u8]) {
    let size = bytes.len();
    match Record::read(bytes) {
        Ok(Record::Key(_)) => stdio::out!("{at} {size} key"),
        Ok(Record::Chunk(chunk)) => stdio::out!(
            "{at} {size} chunk {} messages {}-{} {}..{} {}",
            chunk.id,
            chunk.first,
            chunk.last,
            time(chunk.start.seconds),
            time(chunk.end.seconds),
            flags(&chunk)
        ),
        Ok(Record::Stamp { chunk, token }) => match stamp::token(token) {
            Some(token) => stdio::out!("{at} {size} time stamp of chunk {chunk} {}", token.time),
            None => stdio::out!("{at} {size} time stamp of chunk {chunk}, which cannot be read"),
        },
        Ok(Record::Unknown(kind)) => stdio::out!("{at} {size} unknown kind {kind}"),
        Err(what) => stdio::out!("{at} {size} damaged: {what}"),
    }
}

fn flags(chunk: &Chunk<'_>) -> String {
    let names = [
        (COMPRESSED, "compressed"),
        (ENCRYPTED, "encrypted"),
        (BROKEN, "broken"),
        (SERIALIZED, "serialized"),
    ];
    let set: Vec<&str> =
        names.into_iter().filter(|(flag, _)| chunk.is(*flag)).map(|(_, name)| name).collect();
    if set.is_empty() { "plain".to_owned() } else { set.join(",") }
}
