//! Datagram sockets: bursts of messages with one call each. Over UDP the kernel cuts a burst into its
//! datagrams (UDP_SEGMENT), which costs the sender a fraction of a `sendmmsg`; where that is not to be had,
//! and on unix sockets, it is `sendmmsg`.

use std::io::IoSlice;
use std::time::{Duration, Instant};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::UdpGsoSegment;
use rustix::io::Errno;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags};

use super::{RECONNECT_PAUSE, Run, Second};
use crate::pace::Pace;
use crate::ring::Ring;
use crate::wire::Wire;

const BURST: usize = 64;
/// The kernel cuts up to this much, one datagram's largest payload.
const CUT_BYTES_MAX: usize = 65_507;
/// A receiver that has gone (ECONNREFUSED) or a full queue is tried again after this.
const RETRY_PAUSE: Duration = Duration::from_micros(200);
/// After this long without one datagram taken the connection is given up.
const STUCK_MAX: Duration = Duration::from_secs(10);

struct Conn {
    index: usize,
    socket: Wire,
    seq: u64,
    goal: u64,
    pace: Option<Pace>,
    moved_at: Instant,
    /// The kernel cuts bursts into datagrams.
    cut: bool,
}

pub(super) fn send(run: &Run, sockets: Vec<(usize, Wire)>) -> Vec<String> {
    let load = run.load;
    let mut ring = Ring::new(&load.style);
    let mut errors = Vec::new();
    let frame_len = ring.frame_len();
    let conn = |(index, socket): (usize, Wire)| Conn {
        index,
        cut: is_cut(&socket, frame_len),
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
            // The receiver may have made its socket anew.
            Err(error) if run.load.reconnect => {
                run.say_lost(conn.index, &error);
                let Some(wire) = run.reconnect(conn.index) else { return false };
                (conn.cut, conn.socket, conn.moved_at) = (is_cut(&wire, frame_len), wire, Instant::now());
                moved = true;
                true
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
    let sent = match conn.cut {
        true => cut_burst(conn, frames, frame_len),
        false => burst(&conn.socket, frames, frame_len),
    };
    match sent {
        Ok(count) => {
            conn.seq += count as u64;
            conn.moved_at = now;
            run.progress.add(conn.index, count as u64, (count * frame_len) as u64);
            Ok(Turn::Sent)
        }
        // Refused tells of an earlier datagram: the receiver may be restarting.
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::CONNREFUSED | Errno::INTR)
            if now.saturating_duration_since(conn.moved_at) < stuck_max(run) =>
        {
            Ok(Turn::Wait(RETRY_PAUSE))
        }
        Err(error) => Err(error),
    }
}

/// With `--reconnect`, what refuses for so long is connected to anew; without it, it is given up.
fn stuck_max(run: &Run) -> Duration {
    if run.load.reconnect { RECONNECT_PAUSE } else { STUCK_MAX }
}

/// Asks the kernel to cut what is sent into datagrams of this size. Unix sockets and old kernels refuse.
fn is_cut(socket: &Wire, frame_len: usize) -> bool {
    let Ok(size) = i32::try_from(frame_len) else { return false };
    setsockopt(socket, UdpGsoSegment, &size).is_ok()
}

/// Sends frames as one write that the kernel cuts; how many were taken. A device that cannot (the datagrams
/// would be fragments) is not asked again.
fn cut_burst(conn: &mut Conn, frames: &[u8], frame_len: usize) -> Result<usize, Errno> {
    let count = (CUT_BYTES_MAX / frame_len).min(frames.len() / frame_len);
    if count < 2 {
        return burst(&conn.socket, frames, frame_len);
    }
    match rustix::net::send(&conn.socket, &frames[..count * frame_len], SendFlags::NOSIGNAL) {
        Ok(_) => Ok(count),
        Err(Errno::INVAL | Errno::IO | Errno::MSGSIZE) => {
            conn.cut = false;
            let _ = setsockopt(&conn.socket, UdpGsoSegment, &0);
            burst(&conn.socket, frames, frame_len)
        }
        Err(error) => Err(error),
    }
}

/// Sends each `frame_len` bytes of `frames` as a datagram; how many were taken.
fn burst(socket: &Wire, frames: &[u8], frame_len: usize) -> Result<usize, Errno> {
    let slices: Vec<[IoSlice; 1]> = frames.chunks(frame_len).map(|frame| [IoSlice::new(frame)]).collect();
    let mut controls: Vec<SendAncillaryBuffer> =
        slices.iter().map(|_| SendAncillaryBuffer::default()).collect();
    let mut headers: Vec<MMsgHdr> =
        slices.iter().zip(&mut controls).map(|(slice, control)| MMsgHdr::new(slice, control)).collect();
    rustix::net::sendmmsg(socket, &mut headers, SendFlags::NOSIGNAL)
}
