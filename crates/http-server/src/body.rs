//! Reading a body: bounded in bytes, in time and, with all others, in memory.

use crate::answer::Answer;
use crate::limits::Limits;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderMap};
use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Memory that all bodies of a server have together. A body takes the most that it may become before its
/// first byte is read, so that no two wait for each other's end.
#[derive(Clone)]
pub struct BodyRoom {
    bytes: Arc<Semaphore>,
    bytes_max: usize,
}

impl BodyRoom {
    pub fn new(limits: &Limits) -> BodyRoom {
        let bytes_max = limits.bodies_bytes_max.max(limits.body_bytes_max).min(u32::MAX as usize);
        BodyRoom { bytes: Arc::new(Semaphore::new(bytes_max)), bytes_max }
    }

    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(self.bytes_max) as u32;
        Arc::clone(&self.bytes).acquire_many_owned(bytes).await.ok()
    }
}

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    Deflate,
}

fn coding(headers: &HeaderMap) -> Result<Coding, Answer> {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    let word = match (values.next(), values.next()) {
        (None, _) => return Ok(Coding::Plain),
        (Some(only), None) => only.to_str().unwrap_or_default().trim().to_ascii_lowercase(),
        _ => String::new(),
    };
    match word.as_str() {
        "identity" => Ok(Coding::Plain),
        "gzip" | "x-gzip" => Ok(Coding::Gzip),
        "deflate" => Ok(Coding::Deflate),
        _ => {
            Err(Answer::text(415, "this content encoding is not known: gzip, deflate and identity are")
                .closing())
        }
    }
}

/// The body, unpacked, and its part of the room, which goes back with it. The error is the answer.
pub async fn read(
    incoming: Incoming,
    headers: &HeaderMap,
    limits: &Limits,
    room: &BodyRoom,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Answer> {
    let coding = coding(headers)?;
    let hint = incoming.size_hint();
    if incoming.is_end_stream() || hint.exact() == Some(0) {
        return Ok((Bytes::new(), None));
    }
    let most = limits.body_bytes_max;
    if hint.lower() > most as u64 {
        return Err(too_large(most));
    }
    let expected = match (coding, hint.exact()) {
        (Coding::Plain, Some(bytes)) => bytes as usize,
        _ => most,
    };
    let taken = timeout(limits.body_time, room.take(expected)).await;
    let Ok(Some(taken)) = taken else {
        return Err(Answer::text(503, "there is no room for the request").closing());
    };
    let collected = timeout(limits.body_time, collect(incoming, limits)).await;
    let packed = collected.unwrap_or_else(|_| Err(too_slow()))?;
    let body = match coding {
        Coding::Plain => packed,
        // Of a small body it is done before anything else could be.
        _ if packed.len() < UNPACKED_HERE_MAX => unpack(coding, &packed, most)?,
        _ => {
            let done = tokio::task::spawn_blocking(move || unpack(coding, &packed, most)).await;
            done.unwrap_or_else(|_| Err(Answer::text(500, "unpacking has failed").closing()))?
        }
    };
    Ok((Bytes::from(body), Some(taken)))
}

/// Packed bytes that are unpacked on the server's own thread.
const UNPACKED_HERE_MAX: usize = 64 << 10;

async fn collect(mut incoming: Incoming, limits: &Limits) -> Result<Vec<u8>, Answer> {
    let expected = incoming.size_hint().exact().unwrap_or(0).min(limits.body_bytes_max as u64);
    let mut body = Vec::with_capacity(expected as usize);
    loop {
        let next = poll_fn(|cx| Pin::new(&mut incoming).poll_frame(cx));
        let frame = match timeout(limits.piece_time, next).await {
            Err(_) => return Err(too_slow()),
            Ok(None) => return Ok(body),
            // Cut off, or no body at all: nobody reads what is answered.
            Ok(Some(Err(_))) => return Err(Answer::text(400, "the body is broken").closing()),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(piece) = frame.into_data() else { continue };
        if body.len() + piece.len() > limits.body_bytes_max {
            return Err(too_large(limits.body_bytes_max));
        }
        body.extend_from_slice(&piece);
    }
}

fn unpack(coding: Coding, packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, Answer> {
    let mut out = Vec::new();
    let most = bytes_max as u64 + 1;
    let read = match coding {
        Coding::Plain => packed.take(most).read_to_end(&mut out),
        Coding::Gzip => MultiGzDecoder::new(packed).take(most).read_to_end(&mut out),
        Coding::Deflate => ZlibDecoder::new(packed).take(most).read_to_end(&mut out),
    };
    match read {
        Ok(_) if out.len() > bytes_max => Err(too_large(bytes_max)),
        Ok(_) => Ok(out),
        Err(error) => Err(Answer::text(400, &format!("the body cannot be unpacked: {error}"))),
    }
}

fn too_large(bytes_max: usize) -> Answer {
    Answer::text(413, &format!("the body is larger than {bytes_max} bytes")).closing()
}

fn too_slow() -> Answer {
    Answer::text(408, "the body takes too long").closing()
}
