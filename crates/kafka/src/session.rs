//! What is said on one connection to a broker: versions, the login, then requests whose answers come in their
//! order.

mod anything;
mod consuming;
mod login;
mod transacting;

use crate::answers::consuming::{Fetched, OfGroup, Offset, fetched};
use crate::answers::transacting::{Said, said};
use crate::answers::{self, Metadata, Version, Written};
use crate::bytes::{Input, Malformed};
use crate::code;
use crate::login::{Login, Talk};
use crate::producer::Produce;
use crate::requests::transacting::Asked;
use crate::requests::{self, Api};
pub use anything::read_anything;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// An answer that is longer is none, where the session is not told otherwise.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// What the length and the number of an answer take.
const ANSWER_HEAD_BYTES: usize = 8;
/// Room made at once for an answer that has only begun.
const ROOM_BYTES_MAX: usize = 8 << 20;
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
    Consumer(Api),
    Transaction(Asked),
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
    Offsets(Vec<Offset>),
    Fetched(Fetched),
    OfGroup(OfGroup),
    OfTransaction(Said),
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
    /// Of a login under way.
    talk: Option<Talk>,
    /// For how long the broker takes the last login.
    login_ends: Option<Duration>,
    versions: Vec<Version>,
    ready: bool,
    next: i32,
    expected: VecDeque<(i32, i16, Expected)>,
    out: VecDeque<Piece>,
    /// Bytes of the first piece that were sent.
    gone: usize,
    input: Vec<u8>,
    answer_bytes_max: usize,
}

impl Session {
    /// Begins: the first request stands in the output.
    pub fn new(client: Arc<str>, login: Option<Arc<Login>>) -> Session {
        let mut session = Session {
            client,
            login,
            talk: None,
            login_ends: None,
            versions: Vec::new(),
            ready: false,
            next: 0,
            expected: VecDeque::new(),
            out: VecDeque::new(),
            gone: 0,
            input: Vec::new(),
            answer_bytes_max: ANSWER_BYTES_MAX,
        };
        session.ask(Api::Versions, 0, Expected::Versions, |_| {});
        session
    }

    /// Takes longer answers too.
    pub fn with_answers_of(mut self, bytes_max: usize) -> Session {
        self.answer_bytes_max = bytes_max.max(ANSWER_BYTES_MAX);
        self
    }

    /// Whether it was logged in once.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether something may be asked: not while a login is under way.
    pub fn may_ask(&self) -> bool {
        self.ready && !self.logs_in()
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
        self.common(api, api.versions())
    }

    fn common(&self, api: Api, (least, most): (i16, i16)) -> Result<i16, Fault> {
        let known = self.versions.iter().find(|(key, ..)| *key == api.key());
        let both = known.map(|(_, from, to)| ((*from).max(least), (*to).min(most)));
        match both {
            Some((from, to)) if from <= to => Ok(to),
            _ => {
                let since = if api == Api::GroupHeartbeat { "4.0" } else { "2.1" };
                let name = api.name();
                let text =
                    format!("the broker does not know {name} as penstock does (Kafka {since} or later)");
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
        self.ask(Api::InitProducerId, version, Expected::Identity, |out| {
            requests::init_producer_id(out, None, i32::MAX);
        });
        Ok(())
    }

    /// Sends batches.
    pub fn produce(&mut self, produce: &Produce) -> Result<(), Fault> {
        let version = self.version(Api::Produce)?;
        let groups = || produce.batches.chunk_by(|a, b| a.topic == b.topic);
        let mut own = Vec::with_capacity(256);
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        requests::begin(&mut own, Api::Produce, version, self.next, &self.client);
        requests::produce(&mut own, produce, groups().count());
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
        let mut input = std::mem::take(&mut self.input);
        let mut used = 0;
        let mut outcome = Ok(());
        while let Some(length) = input.get(used..).and_then(<[u8]>::first_chunk::<4>) {
            let length = u32::from_be_bytes(*length) as usize;
            if length > self.answer_bytes_max {
                outcome = Err(Fault::Broken("the peer does not speak Kafka's protocol".to_owned()));
                break;
            }
            let end = used + 4 + length;
            let Some(answer) = input.get(used..end) else {
                // Much is to come: room for it at once.
                input.reserve((end - input.len()).min(ROOM_BYTES_MAX));
                break;
            };
            if used == 0 && end == input.len() && self.brings_records() {
                // The records stay where they are.
                outcome = self.records(std::mem::take(&mut input), heard);
                break;
            }
            used = end;
            outcome = match self.brings_records() {
                true => self.records(answer.to_vec(), heard),
                false => self.answer(answer, heard),
            };
            if outcome.is_err() {
                break;
            }
        }
        input.drain(..used);
        self.input = input;
        outcome
    }

    /// Whether the next answer does.
    fn brings_records(&self) -> bool {
        matches!(self.expected.front(), Some((_, _, Expected::Consumer(Api::Fetch))))
    }

    fn records(&mut self, answer: Vec<u8>, heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let (version, _) = self.next_expected(&mut Input(answer.get(4..).unwrap_or_default()))?;
        heard.push(Heard::Fetched(fetched(answer, ANSWER_HEAD_BYTES, version)?));
        Ok(())
    }

    /// What the answer that begins here is to.
    fn next_expected(&mut self, input: &mut Input<'_>) -> Result<(i16, Expected), Fault> {
        let correlation = input.i32()?;
        let expected = self.expected.pop_front().filter(|(number, ..)| *number == correlation);
        let unasked = || Fault::Broken("the peer answers what was not asked".to_owned());
        expected.map(|(_, version, expected)| (version, expected)).ok_or_else(unasked)
    }

    fn answer(&mut self, answer: &[u8], heard: &mut Vec<Heard>) -> Result<(), Fault> {
        let mut input = Input(answer.get(4..).unwrap_or_default());
        let (version, expected) = self.next_expected(&mut input)?;
        match expected {
            Expected::Versions => self.heard_versions(&mut input, heard)?,
            Expected::Handshake => self.heard_handshake(&mut input)?,
            Expected::Login => self.heard_login(&mut input, version, heard)?,
            Expected::Metadata if version >= 12 => self.heard_numbers(&mut input, heard)?,
            Expected::Metadata => heard.push(Heard::Metadata(answers::metadata(&mut input)?)),
            Expected::Identity => heard.push(Heard::Identity(answers::init_producer_id(&mut input)?)),
            Expected::Produce(tag) => heard.push(Heard::Written(tag, answers::produce(&mut input, version)?)),
            Expected::Transaction(asked) => heard.push(Heard::OfTransaction(said(&mut input, asked)?)),
            Expected::Consumer(api) => {
                heard.push(self.consumer_hears((api, version), answer, ANSWER_HEAD_BYTES)?);
            }
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
        let login = Arc::clone(login);
        self.show(&login)
    }

    fn become_ready(&mut self, heard: &mut Vec<Heard>) {
        self.ready = true;
        heard.push(Heard::Ready);
    }
}

#[cfg(test)]
mod tests;
