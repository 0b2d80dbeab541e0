//! `netmask()` and `netmask6()`: the network the sender is in.

use crate::context::new_asker;
use record::{Batch, Peer, Record};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks that are asked about together; a bit for each.
pub struct Nets {
    list: Vec<Net>,
    id: u64,
}

impl Nets {
    pub fn new(list: Vec<Net>) -> Nets {
        Nets { list, id: new_asker() }
    }

    /// Those that a sender is in: messages that come one after the other mostly have the same one.
    #[inline]
    pub fn of(&self, sender: Option<IpAddr>, lately: &mut Lately) -> u64 {
        let place = self.id as usize % LATELY;
        if let Some(seen) = lately.0.get(place).filter(|seen| seen.id == self.id && seen.sender == sender) {
            return seen.found;
        }
        let bits = self.list.iter().enumerate();
        let found = bits.fold(0, |found, (bit, net)| found | u64::from(net.has(sender)) << bit);
        if let Some(seen) = lately.0.get_mut(place) {
            *seen = Seen { id: self.id, sender, found };
        }
        found
    }
}

/// What a worker knows of the senders that it met last.
pub struct Lately([Seen; LATELY]);

/// Sets of networks of which it is remembered.
const LATELY: usize = 16;

#[derive(Clone, Copy)]
struct Seen {
    id: u64,
    sender: Option<IpAddr>,
    found: u64,
}

impl Default for Lately {
    fn default() -> Lately {
        // No set has this number.
        Lately([Seen { id: u64::MAX, sender: None, found: 0 }; LATELY])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Net {
    V4 { net: u32, mask: u32 },
    V6 { net: u128, mask: u128 },
}

impl Net {
    /// `a.b.c.d`, `a.b.c.d/bits`, `a.b.c.d/mask`
    pub fn v4(text: &str) -> Option<Net> {
        let (address, mask) = match text.split_once('/') {
            None => (text, u32::MAX),
            Some((address, mask)) => match mask.parse::<Ipv4Addr>() {
                Ok(mask) => (address, u32::from(mask)),
                Err(_) => {
                    let bits = mask.parse::<u32>().ok().filter(|b| *b <= 32)?;
                    (address, u32::MAX.checked_shl(32 - bits).unwrap_or(0))
                }
            },
        };
        let net = u32::from(address.parse::<Ipv4Addr>().ok()?) & mask;
        Some(Net::V4 { net, mask })
    }

    /// `address`, `address/bits`
    pub fn v6(text: &str) -> Option<Net> {
        let (address, bits) = match text.split_once('/') {
            None => (text, 128),
            Some((address, bits)) => (address, bits.parse::<u32>().ok().filter(|b| *b <= 128)?),
        };
        let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
        let net = u128::from(address.parse::<Ipv6Addr>().ok()?) & mask;
        Some(Net::V6 { net, mask })
    }

    /// Messages without a network sender (unix sockets, files, our own) count as coming from the loopback
    /// address.
    pub fn holds(&self, batch: &Batch, record: &Record) -> bool {
        self.has(Net::sender(batch, record))
    }

    pub fn sender(batch: &Batch, record: &Record) -> Option<IpAddr> {
        match batch.context(record).map(|c| &c.peer) {
            Some(Peer::Inet { remote, .. }) => Some(remote.ip().to_canonical()),
            Some(Peer::Local) | None => None,
        }
    }

    #[inline]
    pub fn has(&self, sender: Option<IpAddr>) -> bool {
        match (self, sender) {
            (Net::V4 { net, mask }, remote) => match remote.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)) {
                IpAddr::V4(ip) => u32::from(ip) & mask == *net,
                IpAddr::V6(_) => false,
            },
            (Net::V6 { net, mask }, remote) => match remote.unwrap_or(IpAddr::V6(Ipv6Addr::LOCALHOST)) {
                IpAddr::V6(ip) => u128::from(ip) & mask == *net,
                IpAddr::V4(_) => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling() {
        assert_eq!(Net::v4("10.1.2.3/8"), Some(Net::V4 { net: 0x0a00_0000, mask: 0xff00_0000 }));
        assert_eq!(Net::v4("10.1.2.3/255.0.0.0"), Net::v4("10.1.2.3/8"));
        assert_eq!(Net::v4("10.1.2.3"), Net::v4("10.1.2.3/32"));
        assert_eq!(Net::v4("0.0.0.0/0"), Some(Net::V4 { net: 0, mask: 0 }));
        for bad in ["", "10.1.2", "10.1.2.3/33", "10.1.2.3/", "::1", "10.1.2.3/-1", "host"] {
            assert_eq!(Net::v4(bad), None, "{bad}");
        }
        assert_eq!(Net::v6("::1"), Some(Net::V6 { net: 1, mask: u128::MAX }));
        assert_eq!(Net::v6("fe80::1/10"), Net::v6("febf::/10"));
        assert!(matches!(Net::v6("::/0"), Some(Net::V6 { net: 0, mask: 0 })));
        for bad in ["", "::/129", "10.0.0.1", "::1/"] {
            assert_eq!(Net::v6(bad), None, "{bad}");
        }
    }
}
