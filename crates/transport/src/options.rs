//! The `{sock}` and `{inet}` option groups, applied to a socket.

use socket2::{Socket, TcpKeepalive};
use std::io;
use std::time::Duration;

/// Options that are `None` keep the system's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Bytes.
    pub so_rcvbuf: Option<usize>,
    /// Bytes.
    pub so_sndbuf: Option<usize>,
    pub so_broadcast: bool,
    pub so_keepalive: bool,
    pub so_reuseport: bool,
    /// `ebpf(reuseport(sockets(n)))`: what arrives is spread at random over so many sockets of one port, this
    /// one among them.
    pub spread_over: Option<u32>,
    /// 1..=255.
    pub ip_ttl: Option<u32>,
    pub ip_tos: Option<u32>,
    pub ip_freebind: bool,
    /// Name of a network interface (SO_BINDTODEVICE).
    pub interface: Option<String>,
    /// Seconds.
    pub tcp_keepalive_time: Option<u64>,
    pub tcp_keepalive_intvl: Option<u64>,
    pub tcp_keepalive_probes: Option<u32>,
    /// Seconds that what was sent may stay unacknowledged.
    pub tcp_user_timeout: Option<u64>,
}

impl SocketOptions {
    /// Sets everything that has to be set before bind() or connect(). Errors name the option.
    pub fn apply(&self, socket: &Socket, ipv6: bool) -> io::Result<()> {
        let named = |name: &str, result: io::Result<()>| {
            result.map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))
        };
        if let Some(bytes) = self.so_rcvbuf {
            named("so-rcvbuf()", crate::receive::set(socket, bytes))?;
        }
        if let Some(bytes) = self.so_sndbuf {
            named("so-sndbuf()", socket.set_send_buffer_size(bytes))?;
        }
        if self.so_broadcast {
            named("so-broadcast()", socket.set_broadcast(true))?;
        }
        if self.so_reuseport || self.spread_over.is_some() {
            named("so-reuseport()", socket.set_reuse_port(true))?;
        }
        if let Some(ttl) = self.ip_ttl {
            let result = if ipv6 { socket.set_unicast_hops_v6(ttl) } else { socket.set_ttl_v4(ttl) };
            named("ip-ttl()", result)?;
        }
        if let Some(tos) = self.ip_tos {
            let result = if ipv6 { socket.set_tclass_v6(tos) } else { socket.set_tos_v4(tos) };
            named("ip-tos()", result)?;
        }
        if self.ip_freebind {
            named(
                "ip-freebind()",
                if ipv6 { socket.set_freebind_v6(true) } else { socket.set_freebind_v4(true) },
            )?;
        }
        if let Some(interface) = &self.interface {
            named("interface()", socket.bind_device(Some(interface.as_bytes())))?;
        }
        Ok(())
    }

    /// Sets what has to be set after bind().
    pub fn apply_bound(&self, socket: &Socket) -> io::Result<()> {
        match self.spread_over {
            Some(sockets) => crate::reuseport::spread_at_random(socket, sockets)
                .map_err(|e| io::Error::new(e.kind(), format!("ebpf(reuseport()): {e}"))),
            None => Ok(()),
        }
    }

    /// Sets what belongs to an established TCP connection.
    pub fn apply_keepalive(&self, socket: &socket2::SockRef<'_>) -> io::Result<()> {
        if let Some(seconds) = self.tcp_user_timeout {
            socket.set_tcp_user_timeout(Some(Duration::from_secs(seconds)))?;
        }
        if !self.so_keepalive {
            return socket.set_keepalive(false);
        }
        let mut keepalive = TcpKeepalive::new();
        if let Some(time) = self.tcp_keepalive_time {
            keepalive = keepalive.with_time(Duration::from_secs(time));
        }
        if let Some(interval) = self.tcp_keepalive_intvl {
            keepalive = keepalive.with_interval(Duration::from_secs(interval));
        }
        if let Some(probes) = self.tcp_keepalive_probes {
            keepalive = keepalive.with_retries(probes);
        }
        socket.set_tcp_keepalive(&keepalive)
    }
}
