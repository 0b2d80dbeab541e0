//! Notifications as datagrams, and the answers to them.

use crate::ber::{self, INTEGER, Malformed, OCTETS, Reader, SEQUENCE, put, put_integer, put_with};
use crate::engine::Engine;
use crate::user::{Keys, crypt, vector};

const INFORM: u8 = 0xa6;
const TRAP: u8 = 0xa7;
const RESPONSE: u8 = 0xa2;
const REPORT: u8 = 0xa8;
const GET: u8 = 0xa0;

const VERSION_2C: i64 = 1;
const VERSION_3: i64 = 3;
/// The most that we take.
const MESSAGE_BYTES_MAX: i64 = 65_507;
/// RFC 3414 section 2.2
const USER_MODEL: i64 = 3;
const AUTHENTICATED: u8 = 1;
const ENCRYPTED: u8 = 2;
const REPORTABLE: u8 = 4;

/// What version 3 adds to a message.
pub struct Secured<'a> {
    pub engine: &'a Engine,
    pub user: &'a str,
    pub keys: Option<&'a Keys>,
    /// No other message encrypted with these keys has it.
    pub salt: u64,
}

/// The protocol data unit of a notification: `bindings` are its objects, encoded.
pub fn unit(id: u32, is_inform: bool, bindings: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bindings.len() + 32);
    put_with(&mut out, if is_inform { INFORM } else { TRAP }, |out| {
        put_integer(out, INTEGER, i64::from(id));
        put_integer(out, INTEGER, 0);
        put_integer(out, INTEGER, 0);
        put(out, SEQUENCE, bindings);
    });
    out
}

/// Version 2c.
pub fn with_community(community: &str, unit: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(unit.len() + 32);
    put_with(&mut out, SEQUENCE, |out| {
        put_integer(out, INTEGER, VERSION_2C);
        put(out, OCTETS, community.as_bytes());
        out.extend_from_slice(unit);
    });
    out
}

/// Version 3. `None` when it cannot be encrypted, which only a wrong key does.
pub fn with_user(id: u32, is_inform: bool, unit: &[u8], by: &Secured<'_>) -> Option<Vec<u8>> {
    let mut scoped = Vec::with_capacity(unit.len() + 32);
    put_with(&mut scoped, SEQUENCE, |out| {
        put(out, OCTETS, &by.engine.id);
        put(out, OCTETS, b"");
        out.extend_from_slice(unit);
    });
    let (boots, time) = (by.engine.boots, by.engine.time());
    let mut flags = if is_inform { REPORTABLE } else { 0 };
    let mut salt = Vec::new();
    let digest_bytes = by.keys.map_or(0, |keys| keys.digest.sent_bytes());
    if let Some(keys) = by.keys {
        flags |= AUTHENTICATED;
        if let Some(key) = &keys.privacy {
            flags |= ENCRYPTED;
            salt = by.salt.to_be_bytes().to_vec();
            crypt(key, vector(boots, time, by.salt), &mut scoped, true)?;
            let mut sealed = Vec::with_capacity(scoped.len() + 8);
            put(&mut sealed, OCTETS, &scoped);
            scoped = sealed;
        }
    }
    let build = |digest: &[u8]| {
        let mut out = Vec::with_capacity(scoped.len() + 128);
        put_with(&mut out, SEQUENCE, |out| {
            put_integer(out, INTEGER, VERSION_3);
            put_with(out, SEQUENCE, |out| {
                put_integer(out, INTEGER, i64::from(id));
                put_integer(out, INTEGER, MESSAGE_BYTES_MAX);
                put(out, OCTETS, &[flags]);
                put_integer(out, INTEGER, USER_MODEL);
            });
            put_with(out, OCTETS, |out| {
                put_with(out, SEQUENCE, |out| {
                    put(out, OCTETS, &by.engine.id);
                    put_integer(out, INTEGER, i64::from(boots));
                    put_integer(out, INTEGER, i64::from(time));
                    put(out, OCTETS, by.user.as_bytes());
                    put(out, OCTETS, digest);
                    put(out, OCTETS, &salt);
                });
            });
            out.extend_from_slice(&scoped);
        });
        out
    };
    // The digest is over the message with zeros in its place.
    let blank = build(&vec![0; digest_bytes]);
    Some(match by.keys {
        Some(keys) => build(&keys.digest.sign(&keys.auth, &blank)),
        None => blank,
    })
}

/// Asks an engine who it is: a request with nothing in it, which is answered by a report.
pub fn discovery(id: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_with(&mut out, SEQUENCE, |out| {
        put_integer(out, INTEGER, VERSION_3);
        put_with(out, SEQUENCE, |out| {
            put_integer(out, INTEGER, i64::from(id));
            put_integer(out, INTEGER, MESSAGE_BYTES_MAX);
            put(out, OCTETS, &[REPORTABLE]);
            put_integer(out, INTEGER, USER_MODEL);
        });
        put_with(out, OCTETS, |out| {
            put_with(out, SEQUENCE, |out| {
                put(out, OCTETS, b"");
                put_integer(out, INTEGER, 0);
                put_integer(out, INTEGER, 0);
                (0..3).for_each(|_| put(out, OCTETS, b""));
            });
        });
        put_with(out, SEQUENCE, |out| {
            put(out, OCTETS, b"");
            put(out, OCTETS, b"");
            put_with(out, GET, |out| {
                put_integer(out, INTEGER, i64::from(id));
                put_integer(out, INTEGER, 0);
                put_integer(out, INTEGER, 0);
                put(out, SEQUENCE, b"");
            });
        });
    });
    out
}

/// What a receiver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To the notification of this number; 0 is no error.
    Response { id: i64, error: i64 },
    /// Something is wrong with the message, or it was asked who it is: which counter of RFC 3414 section 5
    /// went up, and the engine.
    Report { id: i64, counter: Option<u8>, engine: Engine },
}

/// Reads an answer; `keys` are those that answers to us are signed and encrypted with.
pub fn read(bytes: &[u8], keys: Option<&Keys>) -> Result<Answer, Malformed> {
    let mut message = Reader::new(bytes).inside(SEQUENCE)?;
    match message.integer()? {
        VERSION_2C => {
            let _community = message.take(OCTETS)?;
            let (kind, unit) = message.any()?;
            response(kind, unit).ok_or(Malformed)
        }
        VERSION_3 => secured(bytes, message, keys),
        _ => Err(Malformed),
    }
}

fn response(kind: u8, unit: &[u8]) -> Option<Answer> {
    let mut unit = Reader::new(unit);
    let (id, error) = (unit.integer().ok()?, unit.integer().ok()?);
    (kind == RESPONSE).then_some(Answer::Response { id, error })
}

fn secured(bytes: &[u8], mut message: Reader<'_>, keys: Option<&Keys>) -> Result<Answer, Malformed> {
    let mut head = message.inside(SEQUENCE)?;
    let message_id = head.integer()?;
    let _size = head.integer()?;
    let flags = head.take(OCTETS)?.first().copied().ok_or(Malformed)?;
    let mut by = Reader::new(message.take(OCTETS)?).inside(SEQUENCE)?;
    let engine = by.take(OCTETS)?.to_vec();
    let number = |value: i64| u32::try_from(value).map_err(|_| Malformed);
    let (boots, time) = (number(by.integer()?)?, number(by.integer()?)?);
    let (_user, digest, salt) = (by.take(OCTETS)?, by.take(OCTETS)?, by.take(OCTETS)?);
    let mut plain = Vec::new();
    if flags & AUTHENTICATED != 0 && !is_signed(bytes, digest, keys) {
        return Err(Malformed);
    }
    let mut scoped = match flags & ENCRYPTED {
        0 => message.inside(SEQUENCE)?,
        _ => {
            plain.extend_from_slice(message.take(OCTETS)?);
            let key = keys.and_then(|keys| keys.privacy.as_ref()).ok_or(Malformed)?;
            let salt = u64::from_be_bytes(salt.try_into().map_err(|_| Malformed)?);
            crypt(key, vector(boots, time, salt), &mut plain, false).ok_or(Malformed)?;
            Reader::new(&plain).inside(SEQUENCE)?
        }
    };
    let (_engine, _name) = (scoped.take(OCTETS)?, scoped.take(OCTETS)?);
    let (kind, unit) = scoped.any()?;
    if kind == REPORT {
        let counter = counter(unit);
        let engine = Engine::other(engine, boots, time);
        return Ok(Answer::Report { id: message_id, counter, engine });
    }
    // What nobody signed could be anybody's word.
    let is_proved = keys.is_none() || flags & AUTHENTICATED != 0;
    response(kind, unit).filter(|_| is_proved).ok_or(Malformed)
}

/// Whether the digest is that of the message with zeros in its place.
fn is_signed(bytes: &[u8], digest: &[u8], keys: Option<&Keys>) -> bool {
    let Some(keys) = keys.filter(|keys| keys.digest.sent_bytes() == digest.len()) else { return false };
    // It is a part of the message.
    let at = (digest.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
    let mut blank = bytes.to_vec();
    let Some(place) = blank.get_mut(at..at.saturating_add(digest.len())) else { return false };
    place.fill(0);
    let expected = keys.digest.sign(&keys.auth, &blank);
    // Compared as a whole: how long it takes tells nothing.
    expected.iter().zip(digest).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

/// Which of usmStats a report is about: `1.3.6.1.6.3.15.1.1.N.0`.
fn counter(unit: &[u8]) -> Option<u8> {
    let mut unit = Reader::new(unit);
    (0..3).try_for_each(|_| unit.integer().map(|_| ())).ok()?;
    let mut binding = unit.inside(SEQUENCE).ok()?.inside(SEQUENCE).ok()?;
    match binding.take(ber::OID).ok()? {
        [0x2b, 6, 1, 6, 3, 15, 1, 1, counter, 0] => Some(*counter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::{Auth, Digest, User};
    use proptest::prelude::*;
    use zeroize::Zeroizing;

    fn user(privacy: bool) -> User {
        let password = |text: &str| Zeroizing::new(text.to_owned());
        let privacy = privacy.then(|| password("secret two"));
        User {
            name: "u".to_owned(),
            auth: Some(Auth { digest: Digest::Sha256, password: password("secret one"), privacy }),
        }
    }

    /// A response as a receiver would make it: ours, with another kind.
    fn answered(id: u32, keys: Option<&Keys>, engine: &Engine) -> Vec<u8> {
        let mut unit = unit(id, false, b"");
        unit[0] = RESPONSE;
        with_user(id, false, &unit, &Secured { engine, user: "u", keys, salt: 7 }).expect("a message")
    }

    #[test]
    fn a_trap_of_version_2c() {
        let bytes = with_community("public", &unit(1, false, &[0x30, 0]));
        let expected =
            b"\x30\x18\x02\x01\x01\x04\x06public\xa7\x0d\x02\x01\x01\x02\x01\x00\x02\x01\x00\x30\x02\x30\x00";
        assert_eq!(bytes[1] as usize, bytes.len() - 2);
        assert_eq!(bytes[2..], expected[2..]);
    }

    #[test]
    fn answers_of_users_are_proved() {
        let engine = Engine::other(b"engine".to_vec(), 3, 4);
        for privacy in [false, true] {
            let keys = user(privacy).keys(&engine.id).expect("keys");
            let bytes = answered(9, Some(&keys), &engine);
            assert_eq!(read(&bytes, Some(&keys)), Ok(Answer::Response { id: 9, error: 0 }));
            for at in 0..bytes.len() {
                let mut wrong = bytes.clone();
                wrong[at] ^= 1;
                assert_ne!(read(&wrong, Some(&keys)), Ok(Answer::Response { id: 9, error: 0 }), "byte {at}");
            }
            assert_eq!(read(&answered(9, None, &engine), Some(&keys)), Err(Malformed), "unsigned");
        }
    }

    proptest! {
        #[test]
        fn foreign_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, None);
        }
    }
}
