//! One connection of a client as hyper wants it, plain or encrypted.

use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// What carries the bytes.
pub enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// The same, as hyper reads and writes it.
pub struct Wire {
    stream: Stream,
    buffer: Vec<u8>,
}

impl Wire {
    pub fn new(stream: Stream) -> Wire {
        Wire { stream, buffer: Vec::new() }
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
        let Wire { stream, buffer } = self.get_mut();
        let most = into.remaining().min(READ_BYTES);
        if buffer.len() < most {
            buffer.resize(most, 0);
        }
        let mut read = ReadBuf::new(buffer.get_mut(..most).unwrap_or_default());
        ready!(with!(stream, s => Pin::new(s).poll_read(cx, &mut read)))?;
        into.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        with!(&mut self.get_mut().stream, s => Pin::new(s).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with!(&mut self.get_mut().stream, s => Pin::new(s).poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        with!(&self.stream, s => s.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(&mut self.get_mut().stream, s => Pin::new(s).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(&mut self.get_mut().stream, s => Pin::new(s).poll_shutdown(cx))
    }
}
