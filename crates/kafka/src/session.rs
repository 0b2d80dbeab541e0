//! What is said on one connection to a broker: versions, the login, then requests whose answers come in their
//! order.

use crate::answers::{self, Metadata, Version, Written};
use crate::bytes::{Input, Malformed};
use crate::code;
use crate::login::{Login, Talk};
use crate::producer::Produce;
use crate::requests::{self, Api};
use std::collections::VecDeque;
use std::sync::Arc;

/// An answer that is longer is none.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Batches of fewer bytes are copied behind the request's head instead of going as a piece of their own.
const COPIED_BYTES_MAX: usize = 16 << 10;

/// Bytes to send.
enum Piece {
    Own(Vec<u8>),
    Batch(Arc<Vec<u8>>),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Batch(bytes) => bytes,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Versions,
    Handshake,
    Login,
    Metadata,
    Identity,
    Produce(u64),
}

/// What the broker has said.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Requests can go now.
    Ready,
    Metadata(Metadata),
    /// Producer id and epoch, or an error.
    Identity(Result<(i64, i16), i16>),
    /// What became of the batches of a request.
    Written(u64, Vec<Written>),
}

/// Why the connection is of no use any more.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The peer does not speak as it should.
    Broken(String),
    /// It refuses this side: somebody has to do something.
    Refused(String),
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Fault {
        Fault::Broken(format!("the broker's answer cannot be read: {}", malformed.0))
    }
}

/// One connection.
pub struct Session {
    client: Arc<str>,
    login: Option<Arc<Login>>,
    talk: Option<Talk>,
    versions: Vec<Version>,
    ready: bool,
    next: i32,
    expected: VecDeque<(i32, i16, Expected)>,
    out: VecDeque<Piece>,
    /// Bytes of the first piece that were sent.
    gone: usize,
    input: Vec<u8>,
}

impl Session {
    /// Begins: the first request stands in the output.
    pub fn new(client: Arc<str>, login: Option<Arc<Login>>) -> Session {
        let mut session = Session {
            client,
            login,
            talk: None,
            versions: Vec::new(),
            ready: false,
            next: 0,
            expected: VecDeque::new(),
            out: VecDeque::new(),
            gone: 0,
            input: Vec::new(),
        };
        session.ask(Api::Versions, 0, Expected::Versions, |_| {});
        session
    }

    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// What is to be sent: the next two pieces.
    pub fn output(&self) -> (&[u8], &[u8]) {
        let first = self.out.front().and_then(|piece| piece.bytes().get(self.gone..));
        (first.unwrap_or_default(), self.out.get(1).map(Piece::bytes).unwrap_or_default())
    }

    /// So many bytes of it were sent.
    pub fn sent(&mut self, mut n: usize) {
        while n > 0
            && let Some(piece) = self.out.front()
        {
            let left = piece.bytes().len().saturating_sub(self.gone);
            if n < left {
                self.gone += n;
                return;
            }
            n -= left;
            self.gone = 0;
            self.out.pop_front();
        }
    }

    /// Where received bytes belong.
    pub fn input(&mut self) -> &mut Vec<u8> {
        &mut self.input
    }

    fn ask(&mut self, api: Api, version: i16, expected: Expected, body: impl FnOnce(&mut Vec<u8>)) {
        let mut request = Vec::new();
        requests::begin(&mut request, api, version, self.next, &self.client);
        body(&mut request);
        requests::end(&mut request, 0);
        self.expect(version, expected);
        self.out.push_back(Piece::Own(request));
    }

    fn expect(&mut self, version: i16, expected: Expected) {
        self.expected.push_back((self.next, version, expected));
        self.next = self.next.wrapping_add(1) & i32::MAX;
    }

    /// The highest version of a request that both sides know.
    fn version(&self, api: Api) -> Result<i16, Fault> {
        let (least, most) = api.versions();
        let known = self.versions.iter().find(|(key, ..)| *key == api.key());
        let both = known.map(|(_, from, to)| ((*from).max(least), (*to).min(most)));
        match both {
            Some((from, to)) if from <= to => Ok(to),
            _ => {
                let text =
                    format!("the broker does not know {} as penstock does (Kafka 2.1 or later)", api.name());
                Err(Fault::Refused(text))
            }
        }
    }

    /// Asks who leads these topics. `makes`: those that are not there are made.
    pub fn ask_metadata(&mut self, topics: &[Box<[u8]>], makes: bool) -> Result<(), Fault> {
        let version = self.version(Api::Metadata)?;
        self.ask(Api::Metadata, version, Expected::Metadata, |out| requests::metadata(out, topics, makes));
        Ok(())
    }

    /// Asks for a producer id.
    pub fn ask_identity(&mut self) -> Result<(), Fault> {
        let version = self.version(Api::InitProducerId)?;
        self.ask(Api::InitProducerId, version, Expected::Identity, requests::init_producer_id);
        Ok(())
    }

    /// Sends batches.
    pub fn produce(&mut self, produce: &Produce) -> Result<(), Fault> {
        let version = self.version(Api::Produce)?;
        let groups = || produce.batches.chunk_by(|a, b| a.topic == b.topic);
        let mut own = Vec::with_capacity(256);
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        requests::begin(&mut own, Api::Produce, version, self.next, &self.client);
        requests::produce(&mut own, produce.acks, produce.timeout_ms, groups().count());
        for group in groups() {
            for (at, going) in group.iter().enumerate() {
                if at == 0 {
                    requests::produce_topic(&mut own, &going.topic, group.len());
                }
                requests::produce_partition(&mut own, going.partition, going.bytes.len());
                if going.bytes.len() < COPIED_BYTES_MAX {
                    own.extend_from_slice(&going.bytes);
                    continue;
                }
                bytes += own.len() + going.bytes.len();
                pieces.push(Piece::Own(std::mem::take(&mut own)));
                pieces.push(Piece::Batch(Arc::clone(&going.bytes)));
            }
        }
        bytes += own.len();
        if !own.is_empty() {
            pieces.push(Piece::Own(own));
        }
        if let Some(Piece::Own(head)) = pieces.first_mut() {
            let elsewhere = bytes - head.len();
            requests::end(head, elsewhere);
        }
        self.expect(version, Expected::Produce(produce.tag));
        self.out.extend(pieces);
        Ok(())
    }

    /// Looks at what was received.
    pub fn hear(&mut self, heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let input = std::mem::take(&mut self.input);
        let mut rest = input.as_slice();
        let mut outcome = Ok(());
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > ANSWER_BYTES_MAX {
                outcome = Err(Fault::Broken("the peer does not speak Kafka's protocol".to_owned()));
                break;
            }
            let Some((answer, behind)) = behind.split_at_checked(length) else { break };
            rest = behind;
            outcome = self.answer(Input(answer), heard);
            if outcome.is_err() {
                break;
            }
        }
        let used = input.len() - rest.len();
        self.input = input;
        self.input.drain(..used);
        outcome
    }

    fn answer(&mut self, mut input: Input<'_>, heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let correlation = input.i32()?;
        let expected = self.expected.pop_front().filter(|(number, ..)| *number == correlation);
        let Some((_, version, expected)) = expected else {
            return Err(Fault::Broken("the peer answers what was not asked".to_owned()));
        };
        match expected {
            Expected::Versions => self.heard_versions(&mut input, heard)?,
            Expected::Handshake => self.heard_handshake(&mut input)?,
            Expected::Login => self.heard_login(&mut input, heard)?,
            Expected::Metadata => heard.push(Heard::Metadata(answers::metadata(&mut input)?)),
            Expected::Identity => heard.push(Heard::Identity(answers::init_producer_id(&mut input)?)),
            Expected::Produce(tag) => heard.push(Heard::Written(tag, answers::produce(&mut input, version)?)),
        }
        Ok(())
    }

    fn heard_versions(&mut self, input: &mut Input<'_>, heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let (error, versions) = answers::api_versions(input)?;
        if error != 0 {
            return Err(Fault::Broken(format!(
                "the broker does not tell its versions: {}",
                code::name(error)
            )));
        }
        self.versions = versions;
        let Some(login) = &self.login else {
            self.become_ready(heard);
            return Ok(());
        };
        let mechanism = login.mechanism.name();
        let version = self.version(Api::SaslHandshake)?;
        self.ask(Api::SaslHandshake, version, Expected::Handshake, |out| {
            requests::sasl_handshake(out, mechanism);
        });
        Ok(())
    }

    fn become_ready(&mut self, heard: &mut Vec<Heard>) {
        self.ready = true;
        self.talk = None;
        heard.push(Heard::Ready);
    }

    fn heard_handshake(&mut self, input: &mut Input<'_>) -> Result<(), Fault> {
        let (error, mechanisms) = answers::sasl_handshake(input)?;
        let Some(login) = &self.login else { return Ok(()) };
        if error != 0 {
            let (wanted, has) = (login.mechanism.name(), mechanisms.join(", "));
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

    fn heard_login(&mut self, input: &mut Input<'_>, heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let said = match answers::sasl_authenticate(input)? {
            Ok(said) => said,
            Err((error, words)) => {
                let text = format!("the broker refuses the login: {} {words}", code::name(error));
                return Err(Fault::Refused(text));
            }
        };
        let Some(talk) = &mut self.talk else { return Ok(()) };
        match talk.hear(said).map_err(Fault::Refused)? {
            Some(words) => self.say(&words)?,
            None => self.become_ready(heard),
        }
        Ok(())
    }
}

/// Answers of all kinds out of one input.
pub fn read_anything(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let expected = [
        Expected::Versions,
        Expected::Handshake,
        Expected::Login,
        Expected::Metadata,
        Expected::Identity,
        Expected::Produce(1),
    ];
    let login = Login { mechanism: crate::Mechanism::ScramSha256, user: "u".into(), password: "p".into() };
    let mut session = Session::new("c".into(), Some(Arc::new(login)));
    session.expected.clear();
    for at in 0..expected.len() {
        let kind = (usize::from(*kind) + at) % expected.len();
        let kind = expected.get(kind).copied().unwrap_or(Expected::Versions);
        session.expected.push_back((at as i32, i16::from(bytes.len() as u8 % 9), kind));
    }
    let _ = answers::metadata(&mut Input(rest));
    let _ = answers::produce(&mut Input(rest), 8);
    session.input().extend_from_slice(rest);
    let mut heard = Vec::new();
    let _ = session.hear(&mut heard);
    // What is heard is not much more than what was said.
    assert!(heard.len() <= bytes.len());
}

#[cfg(test)]
mod tests;
