//! A stream of which the beginning was read by somebody else, who looked for a header there.

use engine::reader::Input;
use mio::Registry;
use std::io;
use std::os::fd::OwnedFd;

/// A stream of which the beginning has been read already.
pub struct Begun {
    pub received: Vec<u8>,
    pub input: Box<dyn Input>,
    /// What follows has not been asked for yet, and its readiness may have been announced already.
    pub unasked: bool,
}

impl Input for Begun {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        if self.received.is_empty() {
            self.unasked = false;
            return self.input.read(into, max);
        }
        let received = std::mem::take(&mut self.received);
        into.extend_from_slice(&received);
        Ok(received.len())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.input.send(bytes)
    }

    fn always_ready(&self) -> bool {
        self.unasked || self.input.always_ready()
    }

    fn deregister(&mut self, registry: &Registry) {
        self.input.deregister(registry);
    }

    fn shut(&mut self) {
        self.input.shut();
    }

    fn give(&mut self, registry: &Registry) -> Option<OwnedFd> {
        // Never asked before it was read once; what is here goes first.
        if self.received.is_empty() { self.input.give(registry) } else { None }
    }

    fn farewell(&mut self) {
        self.input.farewell();
    }

    fn at_end(&mut self) -> bool {
        self.input.at_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    struct Silent;

    impl Input for Silent {
        fn read(&mut self, _: &mut Vec<u8>, _: usize) -> io::Result<usize> {
            Err(ErrorKind::WouldBlock.into())
        }

        fn deregister(&mut self, _: &Registry) {}
    }

    #[test]
    fn what_was_read_comes_first() {
        let mut begun = Begun { received: b"<13>a\n".to_vec(), input: Box::new(Silent), unasked: true };
        let mut into = b"x".to_vec();
        assert!(begun.always_ready());
        assert_eq!(begun.read(&mut into, 10).expect("bytes"), 6);
        assert_eq!(into, b"x<13>a\n");
        assert!(begun.always_ready(), "more may have been announced before");
        assert_eq!(begun.read(&mut into, 10).expect_err("nothing").kind(), ErrorKind::WouldBlock);
        assert!(!begun.always_ready());
    }
}
