//! The state of sockets as the kernel shows it, so that tests can wait for it without touching the sockets.

/// Whether somebody listens on a TCP port.
pub fn tcp_listening(port: u16) -> bool {
    rows("tcp").chain(rows("tcp6")).any(|row| row.port == port && row.state == 0x0a)
}

/// Whether somebody has bound a UDP port.
pub fn udp_bound(port: u16) -> bool {
    rows("udp").chain(rows("udp6")).any(|row| row.port == port)
}

/// Bytes that wait in the receive buffers of a UDP port.
pub fn udp_unread(port: u16) -> u64 {
    rows("udp").chain(rows("udp6")).filter(|row| row.port == port).map(|row| row.unread).sum()
}

/// Datagrams the kernel dropped at a UDP port.
pub fn udp_drops(port: u16) -> u64 {
    rows("udp").chain(rows("udp6")).filter(|row| row.port == port).map(|row| row.drops).sum()
}

/// Whether a unix socket is bound to this path.
pub fn unix_bound(path: &str) -> bool {
    std::fs::read_to_string("/proc/net/unix")
        .is_ok_and(|text| text.lines().any(|l| l.ends_with(&format!(" {path}"))))
}

struct Row {
    port: u16,
    state: u8,
    unread: u64,
    drops: u64,
}

fn rows(table: &str) -> impl Iterator<Item = Row> {
    let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
    text.lines().skip(1).filter_map(row).collect::<Vec<_>>().into_iter()
}

/// `sl local_address rem_address st tx_queue:rx_queue ... drops`
fn row(line: &str) -> Option<Row> {
    let mut words = line.split_whitespace();
    let (_, port) = words.nth(1)?.rsplit_once(':')?;
    let state = words.nth(1)?;
    let (_, unread) = words.next()?.split_once(':')?;
    Some(Row {
        port: u16::from_str_radix(port, 16).ok()?,
        state: u8::from_str_radix(state, 16).ok()?,
        unread: u64::from_str_radix(unread, 16).ok()?,
        drops: line.split_whitespace().last()?.parse().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn sees_what_is_bound_and_what_is_unread() {
        let port = crate::free_port();
        assert!(!tcp_listening(port) && !udp_bound(port));
        let _listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let receiver = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        assert!(tcp_listening(port) && udp_bound(port));
        assert_eq!(udp_unread(port), 0);
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"x", ("127.0.0.1", port)).unwrap();
        assert!(udp_unread(port) > 0);
        receiver.recv(&mut [0; 8]).unwrap();
        assert_eq!(udp_unread(port), 0);
    }
}
