//! The login of a session: at its beginning, and again before the broker takes it no longer (KIP-368).

use super::{Expected, Fault, Heard, Session};
use crate::answers;
use crate::bytes::Input;
use crate::code;
use crate::login::{Login, Talk};
use crate::requests::{self, Api};
use std::sync::Arc;
use std::time::Duration;

impl Session {
    pub(super) fn logs_in(&self) -> bool {
        let asks = |(_, _, expected): &(i32, i16, Expected)| *expected == Expected::Handshake;
        self.talk.is_some() || self.expected.iter().any(asks)
    }

    /// For how long the broker takes the last login, once after each.
    pub fn take_login_end(&mut self) -> Option<Duration> {
        self.login_ends.take()
    }

    /// Logs in again. What was asked before is answered before; nothing can be asked until that is done.
    pub fn log_in_again(&mut self, login: Arc<Login>) -> Result<(), Fault> {
        self.login = Some(Arc::clone(&login));
        self.show(&login)
    }

    /// Says how this side is going to log in.
    pub(super) fn show(&mut self, login: &Login) -> Result<(), Fault> {
        let version = self.version(Api::SaslHandshake)?;
        let mechanism = login.mechanism().name();
        self.ask(Api::SaslHandshake, version, Expected::Handshake, |out| {
            requests::sasl_handshake(out, mechanism);
        });
        Ok(())
    }

    pub(super) fn heard_handshake(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let (error, mechanisms) = answers::sasl_handshake(input)?;
        let Some(login) = &self.login else { return Ok(()) };
        if error != 0 {
            let (wanted, has) = (login.mechanism().name(), mechanisms.join(", "));
            return Err(Fault::Refused(format!("the broker has no {wanted}; it has {has}")));
        }
        let (talk, words) = Talk::begin(login).map_err(Fault::Broken)?;
        self.talk = Some(talk);
        self.say(&words)
    }

    fn say(&mut self, words: &[u8]) -> Result<(), Fault> {
        let version = self.version(Api::SaslAuthenticate)?;
        self.ask(Api::SaslAuthenticate, version, Expected::Login, |out| {
            requests::sasl_authenticate(out, words)
        });
        Ok(())
    }

    pub(super) fn heard_login(
        &mut self,
        input: &mut Input<'_>,
        version: i16,
        heard: &mut Vec<Heard>,
    ) -> Result<(), Fault> {
        let (said, lifetime) = match answers::sasl_authenticate(input, version)? {
            Ok(said) => said,
            Err((error, words)) => {
                let text = format!("the broker refuses the login: {} {words}", code::name(error));
                return Err(Fault::Refused(text));
            }
        };
        let Some(talk) = &mut self.talk else { return Ok(()) };
        if let Some(words) = talk.hear(said).map_err(Fault::Refused)? {
            return self.say(&words);
        }
        self.talk = None;
        self.login_ends = u64::try_from(lifetime).ok().filter(|ms| *ms > 0).map(Duration::from_millis);
        if !self.ready {
            self.become_ready(heard);
        }
        Ok(())
    }
}
