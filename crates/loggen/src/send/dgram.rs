//! Datagram sockets: bursts of messages with one `sendmmsg` each.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags};

use super::{Run, Second};
use crate::pace::Pace;
use crate::ring::Ring;

const BURST: usize = 64;
/// A receiver that has gone (ECONNREFUSED) or a full queue is tried again after this.
const RETRY_PAUSE: Duration = Duration::from_micros(200);
/// After this long without one datagram taken the connection is given up.
const STUCK_MAX: Duration = Duration::from_secs(10);

struct Conn {
    index: usize,
    socket: OwnedFd,
    seq: u64,
    goal: u64,
    pace: Option<Pace>,
    moved_at: Instant,
}

pub(super) fn send(run: &Run, sockets: Vec<(usize, OwnedFd)>) -> Vec<String> {
    let load = run.load;
    let mut ring = Ring::new(&load.style);
    let mut errors = Vec::new();
    let conn = |(index, socket)| Conn {
        index,
        socket,
        seq: 0,
        goal: load.share(index).unwrap_or(u64::MAX),
        pace: load.rate.map(|rate| Pace::new(rate, index, load.connections)),
        moved_at: run.start,
    };
    let mut conns: Vec<Conn> = sockets.into_iter().map(conn).collect();
    let mut second = Second::new();
    while !conns.is_empty() {
        let now = Instant::now();
        if run.stopped(now) {
            break;
        }
        ring.refresh(second.at(now));
        let elapsed = now - run.start;
        let mut moved = false;
        let mut pause = RETRY_PAUSE.max(Duration::from_millis(50));
        conns.retain_mut(|conn| match turn(run, &mut ring, conn, now, elapsed) {
            Ok(Turn::Sent) => {
                moved = true;
                true
            }
            Ok(Turn::Wait(wait)) => {
                pause = pause.min(wait);
                conn.seq < conn.goal
            }
            Err(error) => {
                errors.push(format!("connection {}: error sending: {error}", conn.index));
                false
            }
        });
        if !moved && !conns.is_empty() {
            std::thread::sleep(pause);
        }
    }
    errors
}

enum Turn {
    Sent,
    Wait(Duration),
}

fn turn(run: &Run, ring: &mut Ring, conn: &mut Conn, now: Instant, elapsed: Duration) -> Result<Turn, Errno> {
    let mut allowed = conn.goal - conn.seq;
    if let Some(pace) = conn.pace {
        allowed = allowed.min(pace.due(elapsed).saturating_sub(conn.seq));
    }
    if allowed == 0 {
        return Ok(Turn::Wait(conn.pace.map_or(Duration::ZERO, |pace| pace.pause(conn.seq, elapsed))));
    }
    let frame_len = ring.frame_len();
    let frames =
        ring.prepare(conn.index as u32, conn.seq, usize::try_from(allowed).unwrap_or(BURST).min(BURST));
    match burst(&conn.socket, frames, frame_len) {
        Ok(count) => {
            conn.seq += count as u64;
            conn.moved_at = now;
            run.progress.add(conn.index, count as u64, (count * frame_len) as u64);
            Ok(Turn::Sent)
        }
        // Refused tells of an earlier datagram: the receiver may be restarting.
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::CONNREFUSED | Errno::INTR)
            if now.saturating_duration_since(conn.moved_at) < STUCK_MAX =>
        {
            Ok(Turn::Wait(RETRY_PAUSE))
        }
        Err(error) => Err(error),
    }
}

/// Sends each `frame_len` bytes of `frames` as a datagram; how many were taken.
fn burst(socket: &OwnedFd, frames: &[u8], frame_len: usize) -> Result<usize, Errno> {
    let slices: Vec<[IoSlice; 1]> = frames.chunks(frame_len).map(|frame| [IoSlice::new(frame)]).collect();
    let mut controls: Vec<SendAncillaryBuffer> =
        slices.iter().map(|_| SendAncillaryBuffer::default()).collect();
    let mut headers: Vec<MMsgHdr> =
        slices.iter().zip(&mut controls).map(|(slice, control)| MMsgHdr::new(slice, control)).collect();
    rustix::net::sendmmsg(socket, &mut headers, SendFlags::NOSIGNAL)
}
