//! An answer whose body is read as it comes: a server that says something now and then, for as long as
//! anybody listens.

use crate::answer::Answer;
use crate::exchange::{Connection, read_all, said};
use hyper::HeaderMap;
use hyper::body::{Body, Bytes, Incoming};
use std::future::poll_fn;
use std::pin::Pin;

pub struct Streamed {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
    /// Ends with it.
    _connection: Connection,
}

impl Streamed {
    pub(crate) fn new(
        (status, headers, body): (u16, HeaderMap, Incoming),
        connection: Connection,
    ) -> Streamed {
        Streamed { status, headers, body, _connection: connection }
    }

    /// The next piece, as large as it came; `None` behind the last one. The error says why there is no end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await {
                Some(Ok(frame)) => {
                    // Trailers say nothing.
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => return Err(said(&error)),
                None => return Ok(None),
            }
        }
    }

    /// The whole of it: of an answer that turned out to be none of that kind.
    pub async fn whole(self) -> Answer {
        let (body, is_whole) = read_all(self.body).await;
        Answer::new(self.status, self.headers, body, is_whole)
    }
}
