//! Spreads what arrives at one port over the sockets bound to it: a program of three classic BPF
//! instructions, which unlike eBPF needs no privilege.

use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::os::fd::AsFd;

/// Loads a number from outside the packet; the offset says which (linux/filter.h).
const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const RANDOM: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;
const REMAINDER: u16 = (libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_A) as u16;

/// `a = random; a %= sockets; return a`: the place of a socket in the order they were bound.
fn program(sockets: u32) -> [libc::sock_filter; 3] {
    let step = |code, k| libc::sock_filter { code, jt: 0, jf: 0, k };
    [step(LOAD, RANDOM), step(REMAINDER, sockets), step(RETURN, 0)]
}

/// From now on the kernel gives each datagram (or connection, to listeners) to any of the `sockets` that
/// share the port of this one. With fewer than that, it spreads what falls to the missing ones by address and
/// port of the sender. `sockets` is at least 1.
pub fn spread_at_random(socket: &impl AsFd, sockets: u32) -> io::Result<()> {
    let mut steps = program(sockets.max(1));
    // The kernel copies the program.
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    setsockopt(&socket.as_fd(), sockopt::AttachReusePortCbpf, &program).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use crate::{SocketOptions, bind_udp};
    use std::net::{SocketAddr, UdpSocket};

    /// Sends `count` datagrams from one sender to as many sockets; how many each of them received.
    fn received(options: &SocketOptions, sockets: usize, count: usize) -> Vec<usize> {
        let any: SocketAddr = "127.0.0.1:0".parse().expect("address");
        let first = bind_udp(any, options).expect("bind");
        let address = first.local_addr().expect("address");
        let mut all = vec![first];
        while all.len() < sockets {
            all.push(bind_udp(address, options).expect("bind"));
        }
        let sender = UdpSocket::bind(any).expect("bind");
        for _ in 0..count {
            sender.send_to(b"x", address).expect("send");
        }
        let drain = |socket: &UdpSocket| (0..).take_while(|_| socket.recv(&mut [0; 8]).is_ok()).count();
        all.iter().map(drain).collect()
    }

    #[test]
    fn one_sender_is_spread_over_all_sockets() {
        let options = SocketOptions { so_reuseport: true, spread_over: Some(4), ..SocketOptions::default() };
        let counts = received(&options, 4, 100);
        assert_eq!(counts.iter().sum::<usize>(), 100);
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    }

    #[test]
    fn what_falls_to_missing_sockets_is_not_lost() {
        let options = SocketOptions { so_reuseport: true, spread_over: Some(4), ..SocketOptions::default() };
        assert_eq!(received(&options, 2, 100).iter().sum::<usize>(), 100);
    }

    #[test]
    fn without_a_program_one_sender_stays_at_one_socket() {
        let options = SocketOptions { so_reuseport: true, ..SocketOptions::default() };
        let mut counts = received(&options, 3, 20);
        counts.sort_unstable();
        assert_eq!(counts, [0, 0, 20]);
    }
}
