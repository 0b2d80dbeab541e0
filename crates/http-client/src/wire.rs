//! One connection as hyper wants it: plain or encrypted, with an account of what passed.
//!
//! A server may answer before it has read all of a request, 413 say, and hang up. Writing fails then, with
//! the answer waiting to be read: so a failed write is only noted here, and what decides is what can be read.

use hyper::rt::{Read, ReadBufCursor, Write};
use parking_lot::Mutex;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Bytes of one read: answers are small.
const READ_BYTES: usize = 16 * 1024;

pub enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// What passed over a connection.
#[derive(Default)]
pub struct Passed {
    /// Bytes that the kernel has taken.
    pub written: AtomicU64,
    pub read: AtomicU64,
    /// Why nothing more can be written.
    broken: Mutex<Option<String>>,
}

impl Passed {
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub fn broken(&self) -> Option<String> {
        self.broken.lock().clone()
    }
}

pub struct Wire {
    stream: Stream,
    /// HTTP/2 is spoken.
    pub is_http2: bool,
    passed: Arc<Passed>,
    is_broken: bool,
    buffer: Vec<u8>,
}

impl Wire {
    pub fn new(stream: Stream, is_http2: bool, passed: &Arc<Passed>) -> Wire {
        let passed = Arc::clone(passed);
        Wire { stream, is_http2, passed, is_broken: false, buffer: vec![0; READ_BYTES] }
    }

    fn note(&mut self, taken: io::Result<usize>, all: usize) -> io::Result<usize> {
        match taken {
            Ok(n) => {
                self.passed.written.fetch_add(n as u64, Ordering::Relaxed);
                Ok(n)
            }
            Err(error) => {
                self.is_broken = true;
                *self.passed.broken.lock() = Some(error.to_string());
                Ok(all)
            }
        }
    }
}

macro_rules! with {
    ($stream:expr, $name:ident => $act:expr) => {
        match $stream {
            Stream::Plain($name) => $act,
            Stream::Secure($name) => $act,
        }
    };
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Wire { stream, passed, buffer, .. } = self.get_mut();
        let most = buffer.len().min(into.remaining());
        let mut read = ReadBuf::new(buffer.get_mut(..most).unwrap_or_default());
        ready!(with!(stream, s => Pin::new(s).poll_read(cx, &mut read)))?;
        into.put_slice(read.filled());
        passed.read.fetch_add(read.filled().len() as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        if wire.is_broken {
            return Poll::Ready(Ok(bytes.len()));
        }
        let taken = ready!(with!(&mut wire.stream, s => Pin::new(s).poll_write(cx, bytes)));
        Poll::Ready(wire.note(taken, bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let all = parts.iter().map(|part| part.len()).sum();
        if wire.is_broken {
            return Poll::Ready(Ok(all));
        }
        let taken = ready!(with!(&mut wire.stream, s => Pin::new(s).poll_write_vectored(cx, parts)));
        Poll::Ready(wire.note(taken, all))
    }

    fn is_write_vectored(&self) -> bool {
        with!(&self.stream, s => s.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if wire.is_broken {
            return Poll::Ready(Ok(()));
        }
        let flushed = ready!(with!(&mut wire.stream, s => Pin::new(s).poll_flush(cx)));
        Poll::Ready(wire.note(flushed.map(|()| 0), 0).map(|_| ()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(&mut self.get_mut().stream, s => Pin::new(s).poll_shutdown(cx))
    }
}
