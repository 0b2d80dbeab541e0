//! The loop of the control thread.

use std::io::{ErrorKind, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use oplog::Level;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::conn::{Conn, LINE_BYTES_MAX, Phase, Step};
use super::jobs::{Jobs, Outcome};
use crate::refusal::Refusal;
use crate::request::Request;

/// Time given to clients to take what they are owed when the program ends.
const FLUSH_MAX: Duration = Duration::from_secs(1);
/// Pause after an accept that failed, so that a lack of descriptors does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
const TICK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

pub struct Run {
    listener: UnixListener,
    woken: UnixStream,
    jobs: Jobs,
    conns: Vec<Conn>,
    connections_count_max: usize,
    next_token: u64,
    accept_after: Option<Instant>,
}

impl Run {
    pub fn new(listener: UnixListener, woken: UnixStream, jobs: Jobs, connections_count_max: usize) -> Self {
        Run {
            listener,
            woken,
            jobs,
            conns: Vec::new(),
            connections_count_max,
            next_token: 0,
            accept_after: None,
        }
    }

    /// Until the other end of the wake socket is shut.
    pub fn run(&mut self) {
        loop {
            let Some((ready, accept)) = self.wait() else { return };
            oplog::tick();
            if !self.drain_wake() {
                self.finish();
                return;
            }
            while let Some(done) = self.jobs.take() {
                if let Some(conn) = self.conns.iter_mut().find(|c| c.token == done.token) {
                    conn.reply(&done.text, false);
                    self.advance(done.token);
                }
            }
            for (token, events) in ready {
                self.serve(token, events);
            }
            if accept {
                self.accept();
            }
        }
    }

    /// Clients with something to do, and whether somebody knocks. `None`: poll itself failed.
    fn wait(&mut self) -> Option<(Vec<(u64, PollFlags)>, bool)> {
        let now = Instant::now();
        if self.accept_after.is_some_and(|at| at <= now) {
            self.accept_after = None;
        }
        let accepting = if self.accept_after.is_none() { PollFlags::IN } else { PollFlags::empty() };
        let mut fds = vec![PollFd::new(&self.woken, PollFlags::IN), PollFd::new(&self.listener, accepting)];
        fds.extend(self.conns.iter().map(|conn| {
            let events = match conn.phase {
                Phase::Reading => PollFlags::IN,
                Phase::Busy => PollFlags::empty(),
                Phase::Writing => PollFlags::OUT,
            };
            PollFd::new(&conn.stream, events)
        }));
        match poll(&mut fds, Some(&TICK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                oplog::error("Control socket given up", &[("error", &error)]);
                return None;
            }
        }
        let accept = fds.get(1).is_some_and(|fd| fd.revents().contains(PollFlags::IN));
        let events = fds.iter().skip(2).map(PollFd::revents);
        let ready = self.conns.iter().map(|c| c.token).zip(events).filter(|(_, e)| !e.is_empty());
        Some((ready.collect(), accept))
    }

    /// False when the server is to end.
    fn drain_wake(&mut self) -> bool {
        let mut chunk = [0; 64];
        loop {
            match self.woken.read(&mut chunk) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }

    fn serve(&mut self, token: u64, events: PollFlags) {
        let gone = events.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        let Some(conn) = self.conns.iter_mut().find(|c| c.token == token) else { return };
        conn.last_active = Instant::now();
        match conn.phase {
            // A request sent before hanging up is still carried out: read what is there.
            Phase::Reading => {
                let step = conn.read();
                self.act(token, step);
            }
            Phase::Writing if !gone => self.advance(token),
            Phase::Writing | Phase::Busy if gone => self.close(token),
            Phase::Writing | Phase::Busy => {}
        }
    }

    /// Sends, and goes on to lines already read once all is out.
    fn advance(&mut self, token: u64) {
        let Some(conn) = self.conns.iter_mut().find(|c| c.token == token) else { return };
        match conn.flush() {
            Ok(false) => {}
            Ok(true) => {
                let step = conn.next_line();
                self.act(token, step);
            }
            Err(_) => self.close(token),
        }
    }

    fn act(&mut self, token: u64, step: Step) {
        match step {
            Step::Wait => {}
            Step::Close => self.close(token),
            Step::TooLong => {
                let refusal = Refusal::Failed(format!("request longer than {LINE_BYTES_MAX} bytes"));
                self.reply(token, &refusal.reply(), true);
            }
            Step::Line(line) => self.handle(token, &line),
        }
    }

    fn handle(&mut self, token: u64, line: &str) {
        let request = match Request::parse(line) {
            Ok(request) => request,
            Err(refusal) => return self.reply(token, &refusal.reply(), false),
        };
        oplog::debug("Control command received", &[("command", &line.split(' ').next().unwrap_or_default())]);
        if let Request::TakeOver(linger) = request {
            if let Some(at) = self.conns.iter().position(|c| c.token == token) {
                self.jobs.give_away(self.conns.swap_remove(at).stream, linger);
            }
            return;
        }
        match self.jobs.start(token, request) {
            Outcome::Now(text) => self.reply(token, &text, false),
            Outcome::Later(asker) => {
                if let Some(conn) = self.conns.iter_mut().find(|c| c.token == token) {
                    conn.phase = Phase::Busy;
                    conn.asker = Some(asker);
                }
            }
        }
    }

    /// The bytes leave with the next turn of the loop, so that a client with a thousand lines in its buffer
    /// waits its turn between them.
    fn reply(&mut self, token: u64, text: &str, last: bool) {
        if let Some(conn) = self.conns.iter_mut().find(|c| c.token == token) {
            conn.reply(text, last);
        }
    }

    fn accept(&mut self) {
        for _ in 0..self.connections_count_max {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => {
                    let fields: [oplog::Field<'_>; 1] = [("error", &error)];
                    oplog::limited("control.accept", Level::Warning, "Cannot accept control client", &fields);
                    self.accept_after = Some(Instant::now() + ACCEPT_PAUSE);
                    return;
                }
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let mut conn = Conn::new(stream, self.next_token, Instant::now());
            self.next_token += 1;
            if !self.make_room() {
                conn.reply(&Refusal::from("too many control connections").reply(), true);
                let _ = conn.flush();
                continue;
            }
            self.conns.push(conn);
        }
    }

    /// The client that waits for nothing and has been silent longest goes, so that idle ones cannot lock out
    /// an operator.
    fn make_room(&mut self) -> bool {
        if self.conns.len() < self.connections_count_max {
            return true;
        }
        let idle = self.conns.iter().filter(|c| c.phase != Phase::Busy).min_by_key(|c| c.last_active);
        let Some(token) = idle.map(|c| c.token) else { return false };
        self.close(token);
        true
    }

    fn close(&mut self, token: u64) {
        let Some(at) = self.conns.iter().position(|c| c.token == token) else { return };
        if let Some(asker) = self.conns.swap_remove(at).asker {
            asker.leave();
        }
    }

    /// The end of the program: replies already made still go out, for a moment.
    fn finish(&mut self) {
        while let Some(done) = self.jobs.take() {
            if let Some(conn) = self.conns.iter_mut().find(|c| c.token == done.token) {
                conn.reply(&done.text, true);
            }
        }
        let deadline = Instant::now() + FLUSH_MAX;
        loop {
            self.conns.retain_mut(|c| c.phase == Phase::Writing && matches!(c.flush(), Ok(false)));
            let left = deadline.saturating_duration_since(Instant::now());
            if self.conns.is_empty() || left.is_zero() {
                return;
            }
            let wait = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().max(1).into() };
            let mut fds: Vec<_> = self.conns.iter().map(|c| PollFd::new(&c.stream, PollFlags::OUT)).collect();
            if poll(&mut fds, Some(&wait)).is_err_and(|e| e != rustix::io::Errno::INTR) {
                return;
            }
        }
    }
}
