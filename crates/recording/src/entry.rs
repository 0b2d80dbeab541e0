//! One message of a recording, and its bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Microseconds since 1970.
    pub time: i64,
    /// Name of the source's driver: `s_net#0`. At most 255 bytes are kept.
    pub source: &'a str,
    /// Who sent it, over the network.
    pub peer: Option<SocketAddr>,
    /// Without what framed it: no octet count, no line feed.
    pub text: &'a [u8],
}

/// Bytes of length and checksum.
pub(crate) const FRONT: usize = 8;
const SOURCE_BYTES_MAX: usize = 255;

/// Adds an entry to the bytes of a recording.
pub fn append(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let begin = out.len();
    out.extend_from_slice(&[0; FRONT]);
    out.extend_from_slice(&entry.time.to_le_bytes());
    match entry.peer.map(|peer| (peer.ip(), peer.port())) {
        None => out.push(0),
        Some((IpAddr::V4(ip), port)) => {
            out.push(4);
            out.extend_from_slice(&ip.octets());
            out.extend_from_slice(&port.to_le_bytes());
        }
        Some((IpAddr::V6(ip), port)) => {
            out.push(6);
            out.extend_from_slice(&ip.octets());
            out.extend_from_slice(&port.to_le_bytes());
        }
    }
    let cut =
        (0..=entry.source.len().min(SOURCE_BYTES_MAX)).rev().find(|at| entry.source.is_char_boundary(*at));
    let source = entry.source.get(..cut.unwrap_or(0)).unwrap_or_default();
    out.push(source.len() as u8);
    out.extend_from_slice(source.as_bytes());
    out.extend_from_slice(entry.text);
    let body = out.get(begin + FRONT..).unwrap_or_default();
    let (length, sum) = ((body.len() as u32).to_le_bytes(), crc32c::crc32c(body).to_le_bytes());
    for (slot, byte) in out.iter_mut().skip(begin).zip(length.into_iter().chain(sum)) {
        *slot = byte;
    }
}

/// What stands behind length and checksum. `None`: it cannot have been written here.
pub(crate) fn parse(body: &[u8]) -> Option<Entry<'_>> {
    let (time, rest) = body.split_first_chunk::<8>()?;
    let (kind, rest) = rest.split_first()?;
    let (peer, rest) = match kind {
        0 => (None, rest),
        4 => {
            let (ip, rest) = rest.split_first_chunk::<4>()?;
            let (port, rest) = rest.split_first_chunk::<2>()?;
            (Some(SocketAddr::new(Ipv4Addr::from(*ip).into(), u16::from_le_bytes(*port))), rest)
        }
        6 => {
            let (ip, rest) = rest.split_first_chunk::<16>()?;
            let (port, rest) = rest.split_first_chunk::<2>()?;
            (Some(SocketAddr::new(Ipv6Addr::from(*ip).into(), u16::from_le_bytes(*port))), rest)
        }
        _ => return None,
    };
    let (length, rest) = rest.split_first()?;
    let (source, text) = rest.split_at_checked(usize::from(*length))?;
    Some(Entry { time: i64::from_le_bytes(*time), source: std::str::from_utf8(source).ok()?, peer, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HEAD, entries};
    use proptest::prelude::*;

    fn peers() -> impl Strategy<Value = Option<SocketAddr>> {
        let v4 = (any::<[u8; 4]>(), any::<u16>()).prop_map(|(ip, port)| SocketAddr::from((ip, port)));
        let v6 = (any::<[u8; 16]>(), any::<u16>()).prop_map(|(ip, port)| SocketAddr::from((ip, port)));
        proptest::option::of(prop_oneof![v4, v6])
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            list in proptest::collection::vec(
                (any::<i64>(), "[a-z#0-9ü]{0,40}", peers(), proptest::collection::vec(any::<u8>(), 0..300)),
                0..20,
            ),
            cut in 0usize..4000,
        ) {
            let all: Vec<Entry<'_>> = list
                .iter()
                .map(|(time, source, peer, text)| Entry { time: *time, source, peer: *peer, text })
                .collect();
            let mut bytes = HEAD.to_vec();
            all.iter().for_each(|entry| append(&mut bytes, entry));
            let read: Vec<Entry<'_>> =
                entries(&bytes).expect("a head").collect::<Result<_, _>>().expect("nothing is damaged");
            prop_assert_eq!(&read, &all);
            // What was cut off takes nothing with it that is whole.
            let part = bytes.get(..cut.clamp(HEAD.len(), bytes.len())).expect("within");
            let read: Vec<Entry<'_>> = entries(part).expect("a head").map_while(Result::ok).collect();
            prop_assert_eq!(&read[..], &all[..read.len()]);
        }
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let (mut bytes, source) = (HEAD.to_vec(), "ü".repeat(200));
        append(&mut bytes, &Entry { time: 1, source: &source, peer: None, text: b"x" });
        let read = entries(&bytes).expect("a head").next().expect("an entry").expect("whole");
        assert_eq!((read.source, read.text), ("ü".repeat(127).as_str(), &b"x"[..]));
    }
}
