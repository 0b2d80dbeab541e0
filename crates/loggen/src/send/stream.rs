//! Many nonblocking stream connections on one thread: whole pieces of the ring are written at once, a message
//! cut off by a full socket is kept and finished first. Readiness is edge-triggered, so a busy connection
//! costs one system call per write and no more.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::{RECONNECT_PAUSE, Run, Second};
use crate::pace::Pace;
use crate::ring::Ring;
use crate::wire::Wire;

/// With many connections each gets less at a time, so that the receiver sees all of them at work.
const FEW_CONNECTIONS: usize = 16;
const PIECE_MANY: usize = 64 * 1024;
const PIECE_MIN: usize = 8 * 1024;
/// How long cut-off messages may take to be finished after the end.
const FLUSH_MAX: Duration = Duration::from_secs(5);
const LEAVE_PAUSE: Duration = Duration::from_millis(2);
const WAIT_MAX: Duration = Duration::from_millis(100);

struct Conn {
    index: usize,
    /// `None` while waiting to reconnect or given up.
    socket: Option<Wire>,
    retry_at: Option<Instant>,
    /// The next message.
    seq: u64,
    goal: u64,
    pace: Option<Pace>,
    /// The unsent end of message `seq - 1`.
    carry: Vec<u8>,
    /// Bytes to offer in one write; follows what the socket takes.
    piece: usize,
    writable: bool,
    finished: bool,
}

enum Wrote {
    /// Something was sent and more may fit.
    More,
    /// The socket is full.
    Full,
    /// Nothing is due before this long after the start.
    NotDue(Duration),
    Finished,
}

struct Sender<'a> {
    run: &'a Run<'a>,
    ring: Ring,
    epoll: OwnedFd,
    piece_max: usize,
    errors: Vec<String>,
    /// Finished, and the peer has not gone yet.
    leaving: Vec<Wire>,
}

pub(super) fn send(run: &Run, sockets: Vec<(usize, Wire)>) -> Vec<String> {
    let epoll = match epoll::create(epoll::CreateFlags::CLOEXEC) {
        Ok(epoll) => epoll,
        Err(error) => return vec![format!("cannot create an epoll instance: {error}")],
    };
    let ring = Ring::new(&run.load.style);
    let piece_max = if run.load.connections > FEW_CONNECTIONS { PIECE_MANY } else { ring.bytes_max() };
    let mut sender = Sender { run, ring, epoll, piece_max, errors: Vec::new(), leaving: Vec::new() };
    let mut conns: Vec<Conn> =
        sockets.into_iter().map(|(index, socket)| sender.adopt(index, socket)).collect();
    sender.drive(&mut conns);
    sender.flush(&mut conns);
    sender.leave(&mut conns);
    sender.errors
}

impl Conn {
    /// Part of a message is with the kernel, or with TLS, and part is not.
    fn is_cut_off(&self) -> bool {
        self.socket.as_ref().is_some_and(|socket| !self.carry.is_empty() || socket.holds())
    }
}

impl Sender<'_> {
    fn adopt(&mut self, index: usize, socket: Wire) -> Conn {
        let load = self.run.load;
        let mut conn = Conn {
            index,
            socket: None,
            retry_at: None,
            seq: 0,
            goal: load.share(index).unwrap_or(u64::MAX),
            pace: load.rate.map(|rate| Pace::new(rate, index, load.connections)),
            carry: Vec::new(),
            piece: self.piece_max,
            writable: true,
            finished: false,
        };
        self.register(&mut conn, socket);
        conn
    }

    fn register(&mut self, conn: &mut Conn, socket: Wire) {
        let data = epoll::EventData::new_u64(conn.index as u64);
        let flags = epoll::EventFlags::OUT | epoll::EventFlags::ET;
        let ready = socket.nonblocking().and_then(|()| epoll::add(&self.epoll, &socket, data, flags));
        match ready {
            Ok(()) => {
                conn.socket = Some(socket);
                conn.writable = true;
            }
            Err(error) => {
                self.errors.push(format!("connection {}: {error}", conn.index));
                conn.finished = true;
            }
        }
    }

    /// The main loop: a turn of writing for every connection that can, then wait for what comes first.
    fn drive(&mut self, conns: &mut [Conn]) {
        let mut second = Second::new();
        // Place in `conns` by connection index, for events.
        let mut places = std::collections::HashMap::new();
        places.extend(conns.iter().enumerate().map(|(place, conn)| (conn.index as u64, place)));
        let mut busy: VecDeque<usize> = (0..conns.len()).collect();
        let mut later: Vec<(Duration, usize)> = Vec::new();
        let mut open = conns.iter().filter(|conn| !conn.finished).count();
        while open > 0 {
            let now = Instant::now();
            if self.run.stopped(now) {
                return;
            }
            self.ring.refresh(second.at(now));
            let elapsed = now - self.run.start;
            later.retain(|&(at, place)| {
                let due = at <= elapsed;
                if due {
                    busy.push_back(place);
                }
                !due
            });
            for _ in 0..busy.len() {
                let Some(place) = busy.pop_front() else { break };
                let conn = &mut conns[place];
                match self.turn(conn, now, elapsed) {
                    Wrote::More => busy.push_back(place),
                    Wrote::Full => conn.writable = false,
                    Wrote::NotDue(at) => later.push((at, place)),
                    Wrote::Finished => {
                        conn.finished = true;
                        open -= 1;
                    }
                }
            }
            if open > 0 && (busy.is_empty() || open > busy.len() + later.len()) {
                let pause = if busy.is_empty() { self.pause(&later) } else { Duration::ZERO };
                self.wait(pause, |event| {
                    let Some(&place) = places.get(&event) else { return };
                    if !conns[place].writable && !conns[place].finished {
                        conns[place].writable = true;
                        busy.push_back(place);
                    }
                });
            }
        }
    }

    fn pause(&self, later: &[(Duration, usize)]) -> Duration {
        let elapsed = self.run.start.elapsed();
        let next = later.iter().map(|&(at, _)| at.saturating_sub(elapsed)).min();
        let to_deadline =
            self.run.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        [next, to_deadline].into_iter().flatten().min().unwrap_or(WAIT_MAX).min(WAIT_MAX)
    }

    fn wait(&mut self, pause: Duration, mut ready: impl FnMut(u64)) {
        let mut events = Vec::with_capacity(256);
        let timeout = Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: pause.subsec_nanos().into() };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
            Ok(_) => events.iter().for_each(|event: &epoll::Event| ready(event.data.u64())),
            Err(Errno::INTR) => {}
            Err(error) => self.errors.push(format!("epoll: {error}")),
        }
    }

    /// One write for one connection.
    fn turn(&mut self, conn: &mut Conn, now: Instant, elapsed: Duration) -> Wrote {
        if conn.socket.is_none() {
            if let Some(at) = conn.retry_at.filter(|&at| at > now) {
                return Wrote::NotDue(elapsed + (at - now));
            }
            if let Err(outcome) = self.reconnect(conn, now, elapsed) {
                return outcome;
            }
        }
        let mut allowed = conn.goal - conn.seq;
        if let Some(pace) = conn.pace {
            allowed = allowed.min(pace.due(elapsed).saturating_sub(conn.seq));
        }
        if allowed == 0 && conn.carry.is_empty() {
            return match conn.pace {
                Some(pace) if conn.seq < conn.goal => Wrote::NotDue(elapsed + pace.pause(conn.seq, elapsed)),
                _ => self.close(conn),
            };
        }
        match self.write(conn, allowed) {
            Ok(true) => Wrote::More,
            Ok(false) => Wrote::Full,
            Err(error) => self.lost(conn, error, now, elapsed),
        }
    }

    /// Writes the carried end and up to `allowed` messages; false when the socket is full.
    fn write(&mut self, conn: &mut Conn, allowed: u64) -> Result<bool, Errno> {
        let Some(socket) = &mut conn.socket else { return Ok(false) };
        let frame_len = self.ring.frame_len();
        let count = (conn.piece / frame_len).max(1).min(usize::try_from(allowed).unwrap_or(usize::MAX));
        let fresh: &[u8] =
            if count == 0 { &[] } else { self.ring.prepare(conn.index as u32, conn.seq, count) };
        let offered = conn.carry.len() + fresh.len();
        let wrote = match socket.offer(&conn.carry, fresh) {
            Ok(wrote) => wrote,
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error),
        };
        let carried = conn.carry.len();
        let mut whole = 0;
        if wrote < carried {
            conn.carry.drain(..wrote);
        } else {
            whole += u64::from(carried > 0);
            conn.carry.clear();
            let taken = wrote - carried;
            whole += (taken / frame_len) as u64;
            let cut = taken % frame_len;
            conn.seq += taken.div_ceil(frame_len) as u64;
            if cut > 0 {
                conn.carry.extend_from_slice(&fresh[taken..taken - cut + frame_len]);
            }
        }
        self.run.progress.add(conn.index, whole, wrote as u64);
        conn.piece = if wrote == offered { conn.piece * 2 } else { wrote + wrote / 2 }
            .clamp(PIECE_MIN, self.piece_max);
        Ok(wrote == offered)
    }

    fn close(&mut self, conn: &mut Conn) -> Wrote {
        if let Some(mut socket) = conn.socket.take() {
            socket.finish();
            if socket.is_encrypted() {
                self.leaving.push(socket);
            }
        }
        Wrote::Finished
    }

    fn lost(&mut self, conn: &mut Conn, error: Errno, now: Instant, elapsed: Duration) -> Wrote {
        let said = conn.socket.as_mut().and_then(Wire::complaint).map(|text| format!(" ({text})"));
        let said = said.unwrap_or_default();
        conn.socket = None;
        // A message of which the old connection has a part goes whole to the next one.
        conn.seq -= u64::from(!conn.carry.is_empty());
        conn.carry.clear();
        if !self.run.load.reconnect {
            self.errors.push(format!(
                "connection {}: error sending: {error}{said}, results may be skewed",
                conn.index
            ));
            return Wrote::Finished;
        }
        self.run.say_lost(conn.index, &format_args!("{error}{said}"));
        conn.retry_at = Some(now + RECONNECT_PAUSE);
        Wrote::NotDue(elapsed + RECONNECT_PAUSE)
    }

    fn reconnect(&mut self, conn: &mut Conn, now: Instant, elapsed: Duration) -> Result<(), Wrote> {
        match self.run.try_again(conn.index) {
            Some(socket) => {
                self.register(conn, socket);
                if conn.finished { Err(Wrote::Finished) } else { Ok(()) }
            }
            None => {
                conn.retry_at = Some(now + RECONNECT_PAUSE);
                Err(Wrote::NotDue(elapsed + RECONNECT_PAUSE))
            }
        }
    }

    /// After the end: only what was cut off is finished, so that no half message is left.
    fn flush(&mut self, conns: &mut [Conn]) {
        let until = Instant::now() + FLUSH_MAX;
        loop {
            let mut open = false;
            for conn in conns.iter_mut().filter(|conn| conn.is_cut_off()) {
                match self.write(conn, 0) {
                    Ok(_) => open |= conn.is_cut_off(),
                    Err(error) => {
                        self.errors.push(format!("connection {}: error sending: {error}", conn.index));
                        conn.carry.clear();
                        conn.socket = None;
                    }
                }
            }
            if !open || Instant::now() >= until {
                return;
            }
            self.wait(WAIT_MAX, |_| {});
        }
    }

    /// Encrypted connections wait until the peer has read all and gone; its last words are not looked at.
    fn leave(&mut self, conns: &mut [Conn]) {
        for mut socket in conns.iter_mut().filter_map(|conn| conn.socket.take()) {
            socket.finish();
            if socket.is_encrypted() {
                self.leaving.push(socket);
            }
        }
        let until = Instant::now() + FLUSH_MAX;
        self.leaving.retain_mut(|socket| !socket.drained());
        while !self.leaving.is_empty() && Instant::now() < until {
            std::thread::sleep(LEAVE_PAUSE);
            self.leaving.retain_mut(|socket| !socket.drained());
        }
    }
}
