//! The sender's address in front of each message, for a sink that sends in the name of others:
//! spoof-source(). It never leaves the process.

use super::Writer;
use super::shape::Room;
use engine::Chunk;
use record::{Batch, Peer};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// One byte for the family (0 is no address), address, port.
const BYTES: usize = 1 + 16 + 2;

fn put(out: &mut Vec<u8>, sender: Option<SocketAddr>) {
    let mut place = [0; BYTES];
    let (family, rest) = place.split_at_mut(1);
    let (address, port) = rest.split_at_mut(16);
    if let Some(sender) = sender {
        port.copy_from_slice(&sender.port().to_be_bytes());
        match sender.ip() {
            IpAddr::V4(ip) => {
                family[0] = 4;
                address[..4].copy_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                family[0] = 6;
                address.copy_from_slice(&ip.octets());
            }
        }
    }
    out.extend_from_slice(&place);
}

/// Appends a message of which nobody knows who has sent it.
pub(super) fn put_unknown(out: &mut Vec<u8>, message: &[u8]) {
    put(out, None);
    out.extend_from_slice(message);
}

/// Takes a message apart that was made with [`super::Envelope::Sender`].
pub fn take(message: &[u8]) -> (Option<SocketAddr>, &[u8]) {
    let Some((place, body)) = message.split_first_chunk::<BYTES>() else { return (None, message) };
    let port = u16::from_be_bytes([place[17], place[18]]);
    let address = place.get(1..17).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()).unwrap_or_default();
    let ip = match place[0] {
        4 => IpAddr::V4(Ipv4Addr::new(address[0], address[1], address[2], address[3])),
        6 => IpAddr::V6(Ipv6Addr::from(address)),
        _ => return (None, body),
    };
    (Some(SocketAddr::new(ip, port)), body)
}

impl Writer {
    /// Moves lines into a chunk, each behind the address of its sender when that is of the wanted family;
    /// those are cut at `bytes_max`. Returns how many were cut.
    pub(super) fn shape_with_senders(
        &self,
        (ipv6, bytes_max): (bool, usize),
        batch: &Batch,
        selection: &[u32],
        room: &Room,
        chunk: &mut Chunk,
    ) -> usize {
        chunk.bytes.reserve(room.bytes.len() + room.ends.len() * BYTES);
        let mut truncated = 0;
        let mut start = 0;
        for (index, end) in selection.iter().zip(&room.ends) {
            let line = room.bytes.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            let context =
                batch.records.get(*index as usize).and_then(|r| batch.contexts.get(r.context as usize));
            let sender = context.and_then(|context| match &context.peer {
                Peer::Inet { remote, .. } if remote.is_ipv6() == ipv6 => Some(*remote),
                _ => None,
            });
            put(&mut chunk.bytes, sender);
            let at = chunk.bytes.len();
            chunk.bytes.extend_from_slice(line);
            let mut is_cut = self.shape(&mut chunk.bytes, at);
            let most = at.saturating_add(bytes_max);
            if sender.is_some() && chunk.bytes.len() > most {
                chunk.bytes.truncate(most);
                is_cut = true;
            }
            truncated += usize::from(is_cut);
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        truncated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for text in ["192.0.2.1:5", "[2001:db8::1]:65535"] {
            let sender: SocketAddr = text.parse().expect("address");
            let mut out = Vec::new();
            put(&mut out, Some(sender));
            out.extend_from_slice(b"body");
            assert_eq!(take(&out), (Some(sender), &b"body"[..]));
        }
        let mut out = Vec::new();
        put(&mut out, None);
        assert_eq!(take(&out), (None, &b""[..]));
        assert_eq!(take(b"short"), (None, &b"short"[..]));
    }
}
