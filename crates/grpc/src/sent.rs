//! What a call sends: one message, or several while it goes on.

use http_client::Whole;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;

pub enum Sent {
    Whole(Whole),
    /// It goes on until the other end of the channel is dropped.
    Several(Receiver<Bytes>),
}

impl Sent {
    pub fn whole(message: Bytes) -> Sent {
        Sent::Whole(Whole::new(message))
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Sent::Whole(whole) => Pin::new(whole).poll_frame(cx),
            Sent::Several(messages) => messages.poll_recv(cx).map(|next| Some(Ok(Frame::data(next?)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Sent::Whole(whole) => whole.is_end_stream(),
            Sent::Several(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Sent::Whole(whole) => whole.size_hint(),
            Sent::Several(_) => SizeHint::default(),
        }
    }
}
