//! SASL: who this side says it is.

use crate::scram::Scram;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    Plain,
    ScramSha256,
    ScramSha512,
}

impl Mechanism {
    /// By its name, in any letters.
    pub fn named(name: &str) -> Option<Mechanism> {
        [Mechanism::Plain, Mechanism::ScramSha256, Mechanism::ScramSha512]
            .into_iter()
            .find(|m| m.name().eq_ignore_ascii_case(name))
    }

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Plain => "PLAIN",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
            Mechanism::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

#[derive(Clone)]
pub struct Login {
    pub mechanism: Mechanism,
    pub user: String,
    pub password: String,
}

/// A login under way.
pub enum Talk {
    Plain,
    Scram(Box<Scram>),
}

impl Talk {
    /// The first words.
    pub fn begin(login: &Login) -> Result<(Talk, Vec<u8>), String> {
        let sha512 = match login.mechanism {
            Mechanism::Plain => {
                let words = format!("\0{}\0{}", login.user, login.password).into_bytes();
                return Ok((Talk::Plain, words));
            }
            Mechanism::ScramSha256 => false,
            Mechanism::ScramSha512 => true,
        };
        let (scram, words) = Scram::begin(sha512, &login.user, &login.password)?;
        Ok((Talk::Scram(Box::new(scram)), words))
    }

    /// The answer to what the server says; `None` when all is said.
    pub fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, String> {
        match self {
            Talk::Plain => Ok(None),
            Talk::Scram(scram) => scram.hear(said),
        }
    }
}
