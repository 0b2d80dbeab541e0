//! Answers of the server: a message with its length in front.

use wire::protobuf::{Value, fields};

/// A longer one is none.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Taken,
    /// The server's words.
    Refused(String),
}

/// What is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The first answer and the bytes that it takes; `None` while it is not whole.
pub fn read(bytes: &[u8]) -> Result<Option<(Said, usize)>, Malformed> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length > ANSWER_BYTES_MAX {
        return Err(Malformed);
    }
    let Some(message) = rest.get(..length) else { return Ok(None) };
    let (mut is_ok, mut error) = (false, String::new());
    for field in fields(message) {
        match field.map_err(|_| Malformed)? {
            (2, Value::Varint(ok)) => is_ok = ok != 0,
            (3, Value::Bytes(text)) => error = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    Ok(Some((if is_ok { Said::Taken } else { Said::Refused(error) }, 4 + length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::protobuf::{put_bytes, put_number};

    fn answer(ok: bool, error: &str) -> Vec<u8> {
        let mut message = Vec::new();
        put_number(&mut message, 2, u64::from(ok));
        if !error.is_empty() {
            put_bytes(&mut message, 3, error.as_bytes());
        }
        let mut out = (message.len() as u32).to_be_bytes().to_vec();
        out.extend(message);
        out
    }

    proptest! {
        #[test]
        fn what_was_said_is_read(ok: bool, error in ".{0,20}") {
            let bytes = answer(ok, &error);
            for cut in 0..bytes.len() {
                prop_assert_eq!(read(&bytes[..cut]), Ok(None));
            }
            let said = if ok { Said::Taken } else { Said::Refused(error) };
            prop_assert_eq!(read(&bytes), Ok(Some((said, bytes.len()))));
        }

        #[test]
        fn foreign_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Ok(Some((_, taken))) = read(&bytes) {
                prop_assert!(taken <= bytes.len());
            }
        }
    }

    #[test]
    fn no_answers() {
        assert_eq!(read(&[0xff, 0, 0, 0]), Err(Malformed));
        assert_eq!(read(&[0, 0, 0, 1, 0xff]), Err(Malformed));
        assert_eq!(read(&[0, 0, 0, 0]), Ok(Some((Said::Refused(String::new()), 4))));
    }
}
