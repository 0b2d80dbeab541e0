//! The `{sock}` and `{inet}` option groups: what sockets are made with.

use conf_schema::Settings;
use std::sync::atomic::AtomicUsize;
use transport::SocketOptions;

/// The `{sock}` and `{inet}` groups.
pub fn socket_options(s: &Settings, udp: bool) -> SocketOptions {
    let number = |name: &str| s.int(name).filter(|n| *n > 0);
    SocketOptions {
        so_rcvbuf: s.size("so-rcvbuf").map(|n| n as usize).filter(|n| *n > 0),
        so_sndbuf: s.size("so-sndbuf").map(|n| n as usize).filter(|n| *n > 0),
        so_broadcast: s.bool("so-broadcast").unwrap_or(false),
        so_keepalive: s.bool("so-keepalive").unwrap_or(!udp),
        so_reuseport: s.bool("so-reuseport").unwrap_or(false),
        spread_over: None,
        ip_ttl: number("ip-ttl").map(|n| n as u32),
        ip_tos: number("ip-tos").map(|n| n as u32),
        ip_freebind: s.bool("ip-freebind").unwrap_or(false),
        interface: s.text("interface").map(str::to_owned),
        tcp_keepalive_time: s.seconds("tcp-keepalive-time").map(|d| d.as_secs()).filter(|n| *n > 0),
        tcp_keepalive_intvl: s.seconds("tcp-keepalive-intvl").map(|d| d.as_secs()).filter(|n| *n > 0),
        tcp_keepalive_probes: number("tcp-keepalive-probes").map(|n| n as u32),
        tcp_user_timeout: s.seconds("tcp-user-timeout").map(|d| d.as_secs()).filter(|n| *n > 0),
    }
}

/// The `{sock}` group alone.
pub fn unix_socket_options(s: &Settings) -> SocketOptions {
    SocketOptions {
        so_rcvbuf: s.size("so-rcvbuf").map(|n| n as usize).filter(|n| *n > 0),
        so_sndbuf: s.size("so-sndbuf").map(|n| n as usize).filter(|n| *n > 0),
        so_broadcast: s.bool("so-broadcast").unwrap_or(false),
        so_keepalive: s.bool("so-keepalive").unwrap_or(false),
        so_reuseport: s.bool("so-reuseport").unwrap_or(false),
        ..SocketOptions::default()
    }
}

/// A number no other configuration of this process has.
pub fn generation() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
