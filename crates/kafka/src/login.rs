//! SASL: who this side says it is.

use crate::scram::Scram;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    Plain,
    ScramSha256,
    ScramSha512,
    /// RFC 7628.
    OAuthBearer,
    /// RFC 4752: Kerberos.
    Gssapi,
}

impl Mechanism {
    const ALL: [Mechanism; 5] = [
        Mechanism::Plain,
        Mechanism::ScramSha256,
        Mechanism::ScramSha512,
        Mechanism::OAuthBearer,
        Mechanism::Gssapi,
    ];

    /// By its name, in any letters.
    pub fn named(name: &str) -> Option<Mechanism> {
        Mechanism::ALL.into_iter().find(|m| m.name().eq_ignore_ascii_case(name))
    }

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Plain => "PLAIN",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
            Mechanism::ScramSha512 => "SCRAM-SHA-512",
            Mechanism::OAuthBearer => "OAUTHBEARER",
            Mechanism::Gssapi => "GSSAPI",
        }
    }
}

/// What is shown at a login.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    /// With PLAIN or SCRAM.
    Password { mechanism: Mechanism, user: String, password: String },
    /// With OAUTHBEARER: the token, and names with values for the broker.
    Token { token: String, extensions: Vec<(String, String)> },
    /// With GSSAPI.
    Kerberos(Opening),
}

/// What goes on saying the words of a mechanism.
pub trait Speaker: Send {
    /// The answer to what the server says; `None` when all is said.
    fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, String>;
}

/// A login that somebody has begun, with its first words. It is good for one connection.
#[derive(Clone)]
pub struct Opening(Arc<Mutex<Option<Opened>>>);

/// The first words, and what goes on.
type Opened = (Vec<u8>, Box<dyn Speaker>);

impl Opening {
    pub fn new(words: Vec<u8>, speaker: Box<dyn Speaker>) -> Opening {
        Opening(Arc::new(Mutex::new(Some((words, speaker)))))
    }

    fn take(&self) -> Option<Opened> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl PartialEq for Opening {
    fn eq(&self, other: &Opening) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Opening {}

impl Login {
    pub fn mechanism(&self) -> Mechanism {
        match self {
            Login::Password { mechanism, .. } => *mechanism,
            Login::Token { .. } => Mechanism::OAuthBearer,
            Login::Kerberos(_) => Mechanism::Gssapi,
        }
    }
}

/// A login under way.
pub enum Talk {
    Plain,
    Scram(Box<Scram>),
    /// Whether the broker has said something against the token.
    Bearer(bool),
    Kerberos(Box<dyn Speaker>),
}

impl Talk {
    /// The first words.
    pub fn begin(login: &Login) -> Result<(Talk, Vec<u8>), String> {
        let (mechanism, user, password) = match login {
            Login::Token { token, extensions } => return Ok((Talk::Bearer(false), shown(token, extensions))),
            Login::Kerberos(opening) => {
                let (words, speaker) = opening.take().ok_or("this login was used before")?;
                return Ok((Talk::Kerberos(speaker), words));
            }
            Login::Password { mechanism, user, password } => (*mechanism, user, password),
        };
        if mechanism == Mechanism::Plain {
            return Ok((Talk::Plain, format!("\0{user}\0{password}").into_bytes()));
        }
        let (scram, words) = Scram::begin(mechanism == Mechanism::ScramSha512, user, password)?;
        Ok((Talk::Scram(Box::new(scram)), words))
    }

    /// The answer to what the server says; `None` when all is said.
    pub fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, String> {
        match self {
            Talk::Plain => Ok(None),
            Talk::Kerberos(speaker) => speaker.hear(said),
            Talk::Scram(scram) => scram.hear(said),
            Talk::Bearer(false) if said.is_empty() => Ok(None),
            // RFC 7628 section 3.2.3: what is wrong is said first, and the login fails behind this answer.
            Talk::Bearer(is_refused @ false) => {
                *is_refused = true;
                Ok(Some(vec![SEPARATOR]))
            }
            Talk::Bearer(true) => Err("the broker takes a token that it has refused".to_owned()),
        }
    }
}

/// Between the fields of RFC 7628 section 3.1.
const SEPARATOR: u8 = 1;

fn shown(token: &str, extensions: &[(String, String)]) -> Vec<u8> {
    let mut words = b"n,,".to_vec();
    let mut field = |name: &str, value: [&str; 2]| {
        words.push(SEPARATOR);
        words.extend(name.bytes().chain([b'=']).chain(value.into_iter().flat_map(str::bytes)));
    };
    field("auth", ["Bearer ", token]);
    extensions.iter().for_each(|(name, value)| field(name, [value, ""]));
    words.extend([SEPARATOR; 2]);
    words
}

/// Whether the broker can be told this beside the token: RFC 7628 section 3.1.
pub fn is_extension(name: &str, value: &str) -> bool {
    let is_name = !name.is_empty() && name != "auth" && name.bytes().all(|b| b.is_ascii_alphabetic());
    is_name && !value.is_empty() && value.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t' | b'\r' | b'\n'))
}
