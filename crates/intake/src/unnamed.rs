//! Inputs without a peer, a pipe, a program or standard input: what stands between their bytes and messages.

use super::encoding::EncodedInput;
use super::joined::JoinedInput;
use super::reading::Reading;
use crate::multi_line::Mode;
use engine::reader::{Input, StreamOptions};
use wire::FramerOptions;

/// How such bytes are decoded, put together and cut, taken along to the worker that reads them.
pub struct Unnamed {
    encoding: Option<conf_schema::Encoding>,
    mode: Option<Mode>,
    framing: FramerOptions,
    window_messages: Option<usize>,
    fetch_limit: Option<usize>,
}

impl Unnamed {
    pub fn new(reading: &Reading, mode: Option<&Mode>) -> Unnamed {
        Unnamed {
            encoding: reading.encoding,
            mode: mode.cloned(),
            framing: reading.framing,
            window_messages: reading.window_messages,
            fetch_limit: reading.fetch_limit,
        }
    }

    /// The input with all that is done to its bytes, and how messages are cut from what comes out.
    pub fn wrap(self, mut input: Box<dyn Input>) -> (Box<dyn Input>, StreamOptions) {
        let mut framing = self.framing;
        if let Some(encoding) = self.encoding {
            input = Box::new(EncodedInput::new(input, encoding, framing.framing));
        }
        if let Some(mode) = &self.mode {
            let (joined, counted) = JoinedInput::new(input, mode, framing);
            (input, framing) = (Box::new(joined), counted);
        }
        let options = StreamOptions {
            framing,
            idle_timeout: None,
            window_messages: self.window_messages,
            fetch_limit: self.fetch_limit,
            decode: None,
            described: None,
            passes_as: None,
            newcomer: None,
            on_close: None,
        };
        (input, options)
    }
}
