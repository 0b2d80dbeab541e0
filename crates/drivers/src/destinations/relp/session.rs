//! What is said on one RELP connection, without the connection: numbers given to messages, answers matched to
//! them, the window.

use diag::Fault;
use engine::Chunk;
use std::collections::VecDeque;
use wire::relp::{self, Command, Offers, Reader, Response};

/// Bytes of frames made at a time: what one read of a busy source becomes goes out with one call (`penstock
/// bench`, hop-relp-1).
const PIECE_BYTES: usize = 320 * 1024;
/// Bytes of messages that may be on the way beside what window-size() says.
const WINDOW_BYTES: usize = 16 << 20;
/// Of the words with which a server refuses a message so much is kept.
const WORDS_BYTES_MAX: usize = 256;

/// A frame on the way.
struct Sent {
    bytes: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    /// It is taken, and one before it is not answered.
    Taken,
    /// It has to be sent again, once it is the first one.
    Refused,
    /// The first one, sent again under this number.
    Again,
    /// The same, answered.
    Passed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The server is to accept `open`.
    Opening,
    Open,
    /// The server wants no more.
    Ended,
}

pub struct RelpSession {
    phase: Phase,
    reader: Reader,
    window: usize,
    /// The number of the next frame.
    next: u32,
    /// The number of the message at the front of `flight`.
    first: u32,
    flight: VecDeque<Sent>,
    flight_bytes: usize,
    /// What the server said when it refused a message last.
    refusal: String,
    /// Frames that are made. `0 <= gone <= out.len()`.
    out: Vec<u8>,
    /// Bytes of them that the kernel has taken.
    gone: usize,
    input: Vec<u8>,
}

/// What came of the server's words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Messages at the front that are answered.
    pub acknowledged: usize,
    /// The session was opened with this.
    pub opened: Option<String>,
    /// The message after those, which is the first one now, is refused: with these words, or others were
    /// refused later.
    pub refused: Option<String>,
    /// The server ends the session.
    pub ended: bool,
}

impl RelpSession {
    /// Begins a session: the first frame stands in `out`.
    pub fn new(window: usize) -> RelpSession {
        let mut out = Vec::new();
        relp::open(&mut out, 1);
        RelpSession {
            phase: Phase::Opening,
            // A server sends no messages.
            reader: Reader::new(1),
            window,
            next: 2,
            first: 2,
            flight: VecDeque::new(),
            flight_bytes: 0,
            refusal: String::new(),
            out,
            gone: 0,
            input: Vec::new(),
        }
    }

    /// The frames that the kernel has not taken yet.
    pub fn output(&self) -> &[u8] {
        self.out.get(self.gone..).unwrap_or_default()
    }

    /// The kernel has taken `n` more bytes.
    pub fn sent(&mut self, n: usize) {
        self.gone = (self.gone + n).min(self.out.len());
        if self.gone == self.out.len() {
            self.out.clear();
            self.gone = 0;
        }
    }

    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Where received bytes belong.
    pub fn input(&mut self) -> &mut Vec<u8> {
        &mut self.input
    }

    /// Whether another message may go. Behind one that is refused none does, until it is known what to do.
    fn has_room(&self) -> bool {
        self.phase == Phase::Open
            && self.flight.len() < self.window
            && self.flight_bytes < WINDOW_BYTES
            && !self.is_refused()
    }

    /// Whether the first message is refused.
    pub fn is_refused(&self) -> bool {
        self.flight.front().is_some_and(|sent| sent.state == State::Refused)
    }

    /// Whether an answer is still to come.
    pub fn is_awaiting(&self) -> bool {
        self.flight.iter().any(|sent| matches!(sent.state, State::Waiting | State::Again))
    }

    /// Whether the server has taken a message behind the first one.
    pub fn has_taken(&self) -> bool {
        self.flight.iter().any(|sent| sent.state == State::Taken)
    }

    /// Sends the first message once more, which is refused.
    pub fn send_again(&mut self, message: &[u8]) {
        relp::message(&mut self.out, self.next, message);
        self.next = relp::next(self.next);
        self.flight.push_back(Sent { bytes: 0, state: State::Again });
    }

    /// The first message is not sent any more. What the server has taken behind it counts.
    pub fn pass(&mut self, heard: &mut Heard) {
        if let Some(sent) = self.flight.front_mut() {
            sent.state = State::Passed;
            let bytes = std::mem::take(&mut sent.bytes);
            self.flight_bytes = self.flight_bytes.saturating_sub(bytes as usize);
            self.settle(heard);
        }
    }

    /// Counts what is answered at the front.
    fn settle(&mut self, heard: &mut Heard) {
        while let Some(sent) = self.flight.front()
            && matches!(sent.state, State::Taken | State::Passed)
        {
            heard.acknowledged += usize::from(sent.state == State::Taken);
            self.flight_bytes = self.flight_bytes.saturating_sub(sent.bytes as usize);
            self.flight.pop_front();
            self.first = relp::next(self.first);
            if self.is_refused() {
                heard.refused = Some(self.refusal.clone());
            }
        }
    }

    /// Makes frames of messages that were not sent, as many as a piece and the window hold; returns how many.
    pub fn send(&mut self, chunk: &Chunk) -> usize {
        let mut count = 0;
        for message in chunk.unsent() {
            if !self.has_room() || self.out.len() >= PIECE_BYTES {
                break;
            }
            relp::message(&mut self.out, self.next, message);
            self.next = relp::next(self.next);
            let bytes = u32::try_from(message.len()).unwrap_or(u32::MAX);
            self.flight.push_back(Sent { bytes, state: State::Waiting });
            self.flight_bytes += bytes as usize;
            count += 1;
        }
        count
    }

    /// The number of the next message.
    pub fn next_number(&self) -> u32 {
        self.next
    }

    /// Ends the session; the answer is not waited for.
    pub fn close(&mut self) {
        if self.phase == Phase::Open {
            relp::close(&mut self.out, self.next);
            self.phase = Phase::Ended;
        }
    }

    /// Looks at what was received, which is the server's fault when it is not RELP.
    pub fn hear(&mut self, heard: &mut Heard) -> Result<(), Fault> {
        let input = std::mem::take(&mut self.input);
        let mut reader = self.reader.clone();
        let mut wrong = None;
        let outcome = reader.scan(&input, |frame| {
            if wrong.is_none() {
                wrong = self.frame(frame.txnr, frame.command, frame.data.of(&input), heard).err();
            }
        });
        self.reader = reader;
        let consumed = outcome.map_err(|error| Fault::peer(error.to_string()))?;
        self.input = input;
        self.input.drain(..consumed);
        wrong.map_or(Ok(()), Err)
    }

    fn frame(&mut self, txnr: u32, command: Command, data: &[u8], heard: &mut Heard) -> Result<(), Fault> {
        match command {
            Command::Rsp => {}
            Command::ServerClose => {
                self.phase = Phase::Ended;
                heard.ended = true;
                return Ok(());
            }
            _ => return Err(Fault::peer("the server sends what only a client may")),
        }
        let response = Response::parse(data);
        let response = response.ok_or_else(|| Fault::peer("the server's answer cannot be read"))?;
        let words = || String::from_utf8_lossy(response.words).into_owned();
        if self.phase == Phase::Opening {
            if txnr != 1 || response.code != 200 {
                let why = format!("the server refuses the session: {} {}", response.code, words());
                return Err(Fault::peer(why));
            }
            let offers = Offers::parse(response.data);
            offers.check().map_err(Fault::peer)?;
            self.phase = Phase::Open;
            heard.opened = Some(offers.software);
            return Ok(());
        }
        // Numbers are consecutive, but begin again at 1.
        let distance = match txnr.checked_sub(self.first) {
            Some(distance) => distance,
            None => (txnr + relp::TXNR_MAX).saturating_sub(self.first),
        };
        let Some(sent) = self.flight.get_mut(distance as usize) else {
            // The answer to `close`.
            return match self.phase == Phase::Ended {
                true => Ok(()),
                false => Err(Fault::peer(format!("the server answers number {txnr}, which was not sent"))),
            };
        };
        let is_taken = response.code == 200;
        let is_again = match (sent.state, is_taken) {
            (State::Waiting, true) => {
                sent.state = State::Taken;
                false
            }
            (State::Waiting, false) => {
                sent.state = State::Refused;
                false
            }
            (State::Again, _) => {
                sent.state = State::Passed;
                true
            }
            // It is answered.
            _ => return Ok(()),
        };
        if !is_taken {
            let words =
                String::from_utf8_lossy(response.words.get(..WORDS_BYTES_MAX).unwrap_or(response.words));
            self.refusal = format!("{} {words}", response.code);
            if is_again || distance == 0 {
                heard.refused = Some(self.refusal.clone());
            }
            return Ok(());
        }
        if is_again && let Some(first) = self.flight.front_mut() {
            first.state = State::Taken;
        }
        self.settle(heard);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use delivery::testing::chunk;

    const WELCOME: &[u8] = b"1 rsp 60 200 OK\nrelp_version=0\nrelp_software=penstock\ncommands=syslog\n";

    fn opened(window: usize) -> RelpSession {
        let mut session = RelpSession::new(window);
        assert_eq!(said(&mut session), "1 open 53 relp_version=0\nrelp_software=penstock\ncommands=syslog\n");
        assert_eq!(session.send(&chunk(&["early"])), 0, "not before the server has accepted");
        let heard = hear(&mut session, WELCOME).expect("good");
        assert_eq!(heard.opened.as_deref(), Some("penstock"));
        session
    }

    fn said(session: &mut RelpSession) -> String {
        let said = session.output().to_vec();
        session.sent(said.len());
        String::from_utf8(said).expect("text")
    }

    /// Byte by byte.
    fn hear(session: &mut RelpSession, words: &[u8]) -> Result<Heard, Fault> {
        let mut heard = Heard::default();
        for byte in words {
            session.input().push(*byte);
            session.hear(&mut heard)?;
        }
        Ok(heard)
    }

    #[test]
    fn the_window_bounds_what_is_on_the_way() {
        let mut session = opened(2);
        let mut queue = chunk(&["a\n", "b\n", "c\n"]);
        let sent = session.send(&queue);
        queue.send(sent);
        assert_eq!(said(&mut session), "2 syslog 1 a\n3 syslog 1 b\n");
        assert_eq!(hear(&mut session, b"2 rsp 6 200 OK\n").expect("good").acknowledged, 1);
        assert_eq!((session.send(&queue), said(&mut session)), (1, "4 syslog 1 c\n".to_owned()));
        assert_eq!(hear(&mut session, b"3 rsp 6 200 OK\n4 rsp 6 200 OK\n").expect("good").acknowledged, 2);
        session.close();
        assert_eq!(said(&mut session), "5 close 0\n");
        assert!(hear(&mut session, b"5 rsp 0\n0 serverclose 0\n").expect("good").ended);
    }

    #[test]
    fn answers_may_come_in_any_order_and_count_in_ours() {
        let mut session = opened(9);
        session.send(&chunk(&["a", "b", "c"]));
        assert_eq!(hear(&mut session, b"4 rsp 6 200 OK\n2 rsp 6 200 OK\n").expect("good").acknowledged, 1);
        assert_eq!(hear(&mut session, b"3 rsp 6 200 OK\n").expect("good").acknowledged, 2);
        assert!(hear(&mut session, b"9 rsp 6 200 OK\n").is_err_and(|e| e.said().contains("number 9")));
    }

    #[test]
    fn numbers_begin_again() {
        let mut session = opened(9);
        (session.first, session.next) = (relp::TXNR_MAX, relp::TXNR_MAX);
        session.send(&chunk(&["a", "b", "c"]));
        assert_eq!(said(&mut session), "999999999 syslog 1 a\n1 syslog 1 b\n2 syslog 1 c\n");
        let answers = b"1 rsp 6 200 OK\n999999999 rsp 6 200 OK\n2 rsp 6 200 OK\n";
        assert_eq!(hear(&mut session, answers).expect("good").acknowledged, 3);
        assert_eq!((session.first, session.flight_bytes), (3, 0));
    }

    #[test]
    fn a_message_that_is_refused_is_sent_again_and_those_behind_it_are_not() {
        let mut session = opened(9);
        let queue = chunk(&["a", "b", "c", "d", "e"]);
        session.send(&queue);
        said(&mut session);
        let answers = b"2 rsp 6 200 OK\n5 rsp 6 200 OK\n4 rsp 6 500 no\n3 rsp 7 500 not\n";
        let heard = hear(&mut session, answers).expect("good");
        assert_eq!((heard.acknowledged, heard.refused.as_deref()), (1, Some("500 not")));
        assert!(session.is_refused() && session.is_awaiting() && session.has_taken());
        assert_eq!(session.send(&queue), 0, "nothing goes behind it");
        assert!(hear(&mut session, b"6 rsp 6 200 OK\n").expect("good") == Heard::default());
        assert!(!session.is_awaiting());
        // Again, refused again, again and taken.
        session.send_again(b"b");
        assert_eq!(said(&mut session), "7 syslog 1 b\n");
        assert!(session.is_awaiting());
        let heard = hear(&mut session, b"7 rsp 9 500 never\n").expect("good");
        assert_eq!((heard.acknowledged, heard.refused.as_deref()), (0, Some("500 never")));
        session.send_again(b"b");
        said(&mut session);
        let heard = hear(&mut session, b"8 rsp 6 200 OK\n").expect("good");
        assert_eq!((heard.acknowledged, heard.refused.is_some()), (1, true), "the next one is the first now");
        // That one is given up.
        let mut heard = Heard::default();
        session.pass(&mut heard);
        assert_eq!((heard.acknowledged, heard.refused.is_some()), (2, false));
        assert_eq!((session.first, session.next, session.flight_bytes, session.flight.len()), (9, 9, 0, 0));
    }

    #[test]
    fn what_servers_refuse() {
        let mut session = opened(9);
        session.send(&chunk(&["a", "b"]));
        let heard = hear(&mut session, b"2 rsp 6 200 OK\n3 rsp 11 500 no room\n").expect("good");
        assert_eq!((heard.acknowledged, heard.refused.as_deref()), (1, Some("500 no room")));
        assert!(session.is_refused() && !session.is_awaiting() && !session.has_taken());
        let mut session = RelpSession::new(9);
        assert!(hear(&mut session, b"1 rsp 8 500 busy\n").is_err_and(|e| e.said().contains("500 busy")));
        let mut session = RelpSession::new(9);
        let strange = b"1 rsp 36 200 OK\nrelp_version=0\ncommands=other\n";
        assert!(hear(&mut session, strange).is_err_and(|e| e.said().contains("syslog")));
        assert!(hear(&mut RelpSession::new(9), b"220 mail.example.com ESMTP\n").is_err());
        assert!(hear(&mut opened(9), b"2 syslog 1 x\n").is_err());
    }
}
