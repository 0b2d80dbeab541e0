//! What is said before messages go: login, host, channel, exchange, confirmations.

use super::{AmqpSession, CHANNEL, Login, foreign};
use crate::frame::{
    self, CHANNEL_OPEN, CHANNEL_OPEN_OK, CONFIRM_SELECT, CONFIRM_SELECT_OK, EXCHANGE_DECLARE,
    EXCHANGE_DECLARE_OK, FRAME_BYTES_MAX, Malformed, Method, OPEN, OPEN_OK, Reader, START, START_OK, TUNE,
    TUNE_OK,
};
use dialogue::Loss;

/// What the server has to say next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Closed,
    Start,
    Tune,
    Host,
    Channel,
    Exchange,
    Confirm,
    /// Answers.
    Open,
}

/// The smallest frame that both sides have to take.
const FRAME_BYTES_MIN: usize = 4096;
/// A channel is the least, and all that is used.
const CHANNELS_MIN: u16 = 1;

/// Of two limits, 0 being none.
fn lesser<T: Ord + Default>(one: T, other: T) -> T {
    match (one == T::default(), other == T::default()) {
        (true, _) => other,
        (_, true) => one,
        _ => one.min(other),
    }
}

impl AmqpSession {
    pub(super) fn begin_greeting(&mut self) {
        self.words.clear();
        self.words.extend_from_slice(b"AMQP\0\0\x09\x01");
        self.stage = Stage::Start;
    }

    pub(super) fn greeted(&mut self, method: Method, rest: &mut Reader<'_>) -> Result<(), Loss> {
        match (self.stage, method) {
            (Stage::Start, START) => {
                self.log_in(rest).map_err(|Malformed| foreign())??;
                self.stage = Stage::Tune;
            }
            (Stage::Tune, TUNE) => {
                self.tune(rest).map_err(|Malformed| foreign())?;
                self.stage = Stage::Host;
            }
            (Stage::Host, OPEN_OK) => {
                self.say(CHANNEL_OPEN, |out| frame::short(out, b""));
                self.stage = Stage::Channel;
            }
            (Stage::Channel, CHANNEL_OPEN_OK) => match self.plan.exchange.declared.clone() {
                Some(kind) => {
                    let name = self.plan.exchange.name.clone();
                    self.say(EXCHANGE_DECLARE, |out| {
                        out.extend_from_slice(&[0; 2]);
                        frame::short(out, name.as_bytes());
                        frame::short(out, kind.as_bytes());
                        // Neither passive, durable nor anything else, as with syslog-ng; no arguments.
                        out.extend_from_slice(&[0; 5]);
                    });
                    self.stage = Stage::Exchange;
                }
                None => self.ask_for_confirmations(),
            },
            (Stage::Exchange, EXCHANGE_DECLARE_OK) => self.ask_for_confirmations(),
            (Stage::Confirm, CONFIRM_SELECT_OK) => self.stage = Stage::Open,
            _ => return Err(foreign()),
        }
        Ok(())
    }

    fn say(&mut self, method: Method, arguments: impl FnOnce(&mut Vec<u8>)) {
        let channel = if method.0 == OPEN.0 { 0 } else { CHANNEL };
        let begin = frame::method(&mut self.words, channel, method);
        arguments(&mut self.words);
        frame::end(&mut self.words, begin);
    }

    fn ask_for_confirmations(&mut self) {
        self.say(CONFIRM_SELECT, |out| out.push(0));
        self.stage = Stage::Confirm;
    }

    fn log_in(&mut self, rest: &mut Reader<'_>) -> Result<Result<(), Loss>, Malformed> {
        // Version, properties, ways to log in, languages.
        rest.u16()?;
        rest.long()?;
        let offered = String::from_utf8_lossy(rest.long()?).into_owned();
        let (way, response) = match &self.plan.login {
            Login::Plain { user, password } => ("PLAIN", format!("\0{user}\0{password}")),
            Login::External => ("EXTERNAL", String::new()),
        };
        if !offered.split(' ').any(|name| name == way) {
            let why = format!("the server does not offer the login {way}, but {offered}");
            return Ok(Err(Loss::Refused(why)));
        }
        self.say(START_OK, |out| {
            let table = frame::begin_table(out);
            frame::text_in_table(out, b"product", b"penstock");
            frame::short(out, b"capabilities");
            out.push(b'F');
            let inner = frame::begin_table(out);
            for name in ["authentication_failure_close", "publisher_confirms", "basic.nack"] {
                frame::yes_in_table(out, name.as_bytes());
            }
            frame::end_table(out, inner);
            frame::end_table(out, table);
            frame::short(out, way.as_bytes());
            frame::long(out, response.as_bytes());
            frame::short(out, b"en_US");
        });
        Ok(Ok(()))
    }

    fn tune(&mut self, rest: &mut Reader<'_>) -> Result<(), Malformed> {
        let (channels, size) = (rest.u16()?, rest.u32()?);
        let channels = lesser(channels, self.plan.channel_max).max(CHANNELS_MIN);
        let size = lesser(size, self.plan.frame_max) as usize;
        let size = lesser(size, FRAME_BYTES_MAX).clamp(FRAME_BYTES_MIN, FRAME_BYTES_MAX);
        self.frame_max = size;
        let (heartbeat, vhost) = (self.plan.heartbeat, self.plan.vhost.clone());
        self.say(TUNE_OK, |out| {
            out.extend_from_slice(&channels.to_be_bytes());
            out.extend_from_slice(&(size as u32).to_be_bytes());
            out.extend_from_slice(&heartbeat.to_be_bytes());
        });
        self.say(OPEN, |out| {
            frame::short(out, vhost.as_bytes());
            out.extend_from_slice(&[0; 2]);
        });
        Ok(())
    }
}
