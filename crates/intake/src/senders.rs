//! Contexts of peers: what all messages of one sender have in common, with its name from the resolver.

use record::{Batch, Context, Peer, Transport};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use transport::{NameUse, Resolver};

/// How HOST_FROM is made of an address.
#[derive(Clone)]
pub struct Naming {
    pub resolver: Arc<Resolver>,
    pub use_dns: NameUse,
    pub use_fqdn: bool,
    pub normalize_hostnames: bool,
}

impl Naming {
    /// The name of an address if it is known now; otherwise `then` gets it later, from another thread.
    pub fn name(&self, address: SocketAddr, then: impl FnOnce(String) + Send + 'static) -> Option<String> {
        let naming = self.clone();
        let later = move |name: &str| then(naming.shape(name));
        self.resolver.name(address.ip(), self.use_dns, later).map(|name| self.shape(&name))
    }

    fn shape(&self, name: &str) -> String {
        self.resolver.shape(name, self.use_fqdn, self.normalize_hostnames)
    }
}

/// Resolvers are shared by their options, so two namings with one resolver and the same switches name alike.
impl std::fmt::Debug for Naming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Naming { resolver, use_dns, use_fqdn, normalize_hostnames } = self;
        write!(f, "{:p} {use_dns:?} {use_fqdn} {normalize_hostnames}", Arc::as_ptr(resolver))
    }
}

/// IPv4 inside IPv6 (`::ffff:192.0.2.1`) is IPv4 to everything but the socket.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) if v6.ip().to_ipv4_mapped().is_some() => {
            SocketAddr::new(address.ip().to_canonical(), v6.port())
        }
        _ => address,
    }
}

/// What a socket source knows about its peers' contexts.
#[derive(Clone)]
pub struct PeerFacts {
    pub group: Arc<str>,
    pub transport: Transport,
    /// 6 TCP, 17 UDP.
    pub ip_protocol: u8,
}

impl PeerFacts {
    pub fn context(&self, remote: SocketAddr, local: SocketAddr, host_from: &str) -> Arc<Context> {
        Arc::new(Context {
            source: Arc::clone(&self.group),
            peer: Peer::Inet { remote: canonical(remote), local: canonical(local), proxy: None },
            host_from: host_from.into(),
            transport: self.transport,
            ip_protocol: self.ip_protocol,
            values: Vec::new(),
        })
    }
}

/// Senders a datagram socket remembers; the table starts anew when it is full, so that inventing addresses
/// cannot fill the memory.
const SENDERS_MAX: usize = 8192;
/// How often the resolver's cache is asked again for a sender that keeps sending.
const NAME_LIFE: Duration = Duration::from_secs(60);

/// Contexts of the senders to one datagram socket.
pub struct Senders {
    facts: PeerFacts,
    naming: Naming,
    known: HashMap<SocketAddr, Known>,
    /// Names that were asked for and have come in meanwhile.
    named: Arc<parking_lot::Mutex<Vec<(SocketAddr, String)>>>,
    round: u32,
    round_ends: Instant,
    /// Number of the batch that is being filled.
    batch: u64,
}

struct Known {
    context: Arc<Context>,
    /// The round in which its name was asked for.
    asked: u32,
    /// The last batch it has sent to, and its place among that batch's contexts.
    placed: (u64, u16),
}

impl Senders {
    pub fn new(facts: PeerFacts, naming: Naming) -> Senders {
        let (known, named) = (HashMap::new(), Arc::default());
        Senders { facts, naming, known, named, round: 0, round_ends: Instant::now() + NAME_LIFE, batch: 0 }
    }

    /// The place of a sender's context in the batch that is being filled, put there with the sender's first
    /// datagram.
    pub fn place(&mut self, remote: SocketAddr, local: SocketAddr, batch: &mut Batch) -> u16 {
        let current = self.batch;
        if let Some(known) = self.known.get(&remote)
            && known.placed.0 == current
        {
            return known.placed.1;
        }
        let context = self.context(remote, local);
        let at = batch.contexts.len() as u16;
        batch.contexts.push(context);
        if let Some(known) = self.known.get_mut(&remote) {
            known.placed = (current, at);
        }
        at
    }

    /// The context of a sender. Until its name is known it is called by its number; until a new name is
    /// known, by the old one.
    pub fn context(&mut self, remote: SocketAddr, local: SocketAddr) -> Arc<Context> {
        if let Some(known) = self.known.get(&remote)
            && known.asked == self.round
        {
            return Arc::clone(&known.context);
        }
        let old = self.known.remove(&remote).map(|known| known.context);
        if self.known.len() >= SENDERS_MAX {
            self.known.clear();
        }
        let named = Arc::clone(&self.named);
        let name = self.naming.name(remote, move |name| named.lock().push((remote, name)));
        let context = match (name, old) {
            (None, Some(old)) => old,
            (Some(name), Some(old)) if *old.host_from == *name => old,
            (Some(name), _) => self.facts.context(remote, local, &name),
            (None, None) => self.facts.context(remote, local, &remote.ip().to_canonical().to_string()),
        };
        self.known.insert(
            remote,
            Known { context: Arc::clone(&context), asked: self.round, placed: (u64::MAX, 0) },
        );
        context
    }

    /// Begins a batch: takes in the names that were found since the last one.
    pub fn begin_batch(&mut self, local: SocketAddr, now: Instant) {
        self.batch += 1;
        if now >= self.round_ends {
            self.round = self.round.wrapping_add(1);
            self.round_ends = now + NAME_LIFE;
        }
        let Some(mut named) = self.named.try_lock().filter(|n| !n.is_empty()) else { return };
        for (remote, name) in named.drain(..) {
            // Of a sender that was forgotten meanwhile nothing has to be known.
            if let Some(known) = self.known.get_mut(&remote) {
                known.context = self.facts.context(remote, local, &name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use transport::DnsOptions;

    fn facts() -> PeerFacts {
        PeerFacts { group: "s".into(), transport: Transport("rfc3164+udp"), ip_protocol: 17 }
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("address")
    }

    #[test]
    fn mapped_addresses_are_ipv4() {
        assert_eq!(canonical(address("[::ffff:192.0.2.1]:5")), address("192.0.2.1:5"));
        assert_eq!(canonical(address("[2001:db8::1]:5")), address("[2001:db8::1]:5"));
        let context = facts().context(address("[::ffff:192.0.2.1]:5"), address("[::ffff:192.0.2.2]:6"), "x");
        let Peer::Inet { remote, local, .. } = &context.peer else { panic!("{context:?}") };
        assert_eq!((*remote, *local), (address("192.0.2.1:5"), address("192.0.2.2:6")));
    }

    #[test]
    fn a_new_name_is_seen_in_the_next_round_and_contexts_are_kept_until_then() {
        let mut file = tempfile::NamedTempFile::new().expect("temp file");
        writeln!(file, "192.0.2.1 old.example").expect("write");
        let options = DnsOptions { hosts: Some(file.path().to_owned()), ..DnsOptions::default() };
        let naming = Naming {
            resolver: Arc::new(Resolver::new(options)),
            use_dns: NameUse::PersistOnly,
            use_fqdn: true,
            normalize_hostnames: false,
        };
        let mut senders = Senders::new(facts(), naming);
        let (remote, local) = (address("192.0.2.1:5"), address("192.0.2.9:514"));
        let first = senders.context(remote, local);
        assert_eq!(&*first.host_from, "old.example");
        file.as_file().set_len(0).expect("truncate");
        std::fs::write(file.path(), "192.0.2.1 new.example\n").expect("write");
        let later = std::time::SystemTime::now() + Duration::from_secs(5);
        file.as_file().set_modified(later).expect("time of the file");
        assert!(Arc::ptr_eq(&first, &senders.context(remote, local)));
        senders.begin_batch(local, Instant::now() + NAME_LIFE * 2);
        assert_eq!(&*senders.context(remote, local).host_from, "new.example");
    }

    fn numbered() -> Senders {
        let resolver = Arc::new(Resolver::new(DnsOptions::default()));
        let naming = Naming { resolver, use_dns: NameUse::No, use_fqdn: false, normalize_hostnames: false };
        Senders::new(facts(), naming)
    }

    fn from(port: u16) -> SocketAddr {
        SocketAddr::new(std::net::IpAddr::from([192, 0, 2, 1]), port)
    }

    #[test]
    fn invented_addresses_do_not_fill_the_memory() {
        let mut senders = numbered();
        for port in 1..=65535u16 {
            senders.context(from(port), address("192.0.2.9:514"));
        }
        assert!(senders.known.len() <= SENDERS_MAX);
    }

    #[test]
    fn asking_again_for_a_known_name_costs_the_others_nothing() {
        let (mut senders, local) = (numbered(), address("192.0.2.9:514"));
        for port in 1..=SENDERS_MAX as u16 {
            senders.context(from(port), local);
        }
        senders.begin_batch(local, Instant::now() + NAME_LIFE * 2);
        senders.context(from(1), local);
        assert_eq!(senders.known.len(), SENDERS_MAX);
    }

    #[test]
    fn a_sender_has_one_place_in_each_batch() {
        let mut senders = numbered();
        let (one, two, local) = (address("192.0.2.1:5"), address("192.0.2.2:5"), address("192.0.2.9:514"));
        let places = |senders: &mut Senders, order: &[SocketAddr]| {
            let mut batch = Batch::default();
            senders.begin_batch(local, Instant::now());
            let at: Vec<u16> = order.iter().map(|sender| senders.place(*sender, local, &mut batch)).collect();
            (at, batch.contexts.iter().map(|c| c.host_from.to_string()).collect::<Vec<_>>())
        };
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        assert_eq!(
            places(&mut senders, &[one, two, one]),
            (vec![0, 1, 0], names(["192.0.2.1", "192.0.2.2"]))
        );
        assert_eq!(
            places(&mut senders, &[two, one, two]),
            (vec![0, 1, 0], names(["192.0.2.2", "192.0.2.1"]))
        );
    }
}
