//! `transport(proxied-udp)`: each datagram begins with a PROXY header that says for whom a load balancer
//! sends it.

use super::super::senders::{Senders, canonical};
use record::{Batch, Context, Peer};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use wire::proxy::{self, Header, Origin};

/// Routes that are remembered; the table starts anew when it is full, so that inventing addresses cannot fill
/// the memory.
const ROUTES_MAX: usize = 8192;

/// Reads the header of a datagram; what follows it is the message.
pub fn header(datagram: &[u8]) -> Result<(Header, &[u8]), String> {
    match proxy::parse(datagram) {
        Ok(Some(header)) => Ok((header, datagram.get(header.len..).unwrap_or_default())),
        Ok(None) => Err("the datagram ends within the PROXY header".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// On whose way a datagram came.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Route {
    client: SocketAddr,
    destination: SocketAddr,
    balancer: SocketAddr,
}

struct Known {
    /// The client's context as its name is known now; when that changes, `context` is made anew.
    named: Arc<Context>,
    context: Arc<Context>,
    /// The last batch it has sent to, and its place among that batch's contexts.
    placed: (u64, u16),
}

/// Contexts of the clients behind balancers.
pub struct Clients {
    senders: Senders,
    local: SocketAddr,
    known: HashMap<Route, Known>,
    /// Number of the batch that is being filled.
    batch: u64,
}

impl Clients {
    pub fn new(senders: Senders, local: SocketAddr) -> Clients {
        Clients { senders, local, known: HashMap::new(), batch: 0 }
    }

    pub fn begin_batch(&mut self, now: Instant) {
        self.batch += 1;
        self.senders.begin_batch(self.local, now);
    }

    /// The place of the sender's context in the batch: the client's, or the balancer's own when it speaks for
    /// itself.
    pub fn place(&mut self, header: &Header, balancer: SocketAddr, batch: &mut Batch) -> u16 {
        let Origin::Client { source, destination } = header.origin else {
            return self.senders.place(balancer, self.local, batch);
        };
        let (client, balancer) = (canonical(source), canonical(balancer));
        let route = Route { client, destination: canonical(destination), balancer };
        if let Some(known) = self.known.get(&route)
            && known.placed.0 == self.batch
        {
            return known.placed.1;
        }
        let named = self.senders.context(client, route.destination);
        if self.known.len() >= ROUTES_MAX && !self.known.contains_key(&route) {
            self.known.clear();
        }
        let at = batch.contexts.len() as u16;
        let known = self.known.entry(route).or_insert_with(|| Known {
            context: through(&named, &route),
            named: Arc::clone(&named),
            placed: (0, 0),
        });
        if !Arc::ptr_eq(&known.named, &named) {
            known.context = through(&named, &route);
            known.named = named;
        }
        known.placed = (self.batch, at);
        batch.contexts.push(Arc::clone(&known.context));
        at
    }
}

/// The client's context with where it wanted to go and who brought it.
fn through(named: &Context, route: &Route) -> Arc<Context> {
    let mut context = Context::clone(named);
    context.peer = Peer::Inet { remote: route.client, local: route.destination, proxy: Some(route.balancer) };
    Arc::new(context)
}

#[cfg(test)]
mod tests {
    use super::super::super::senders::{Naming, PeerFacts};
    use super::*;
    use record::Transport;
    use transport::{DnsOptions, NameUse, Resolver};

    fn clients() -> Clients {
        let facts =
            PeerFacts { group: "s".into(), transport: Transport("rfc3164+proxied-udp"), ip_protocol: 17 };
        let resolver = Arc::new(Resolver::new(DnsOptions::default()));
        let naming = Naming { resolver, use_dns: NameUse::No, use_fqdn: false, normalize_hostnames: false };
        Clients::new(Senders::new(facts, naming), "192.0.2.1:514".parse().expect("address"))
    }

    #[test]
    fn each_route_has_one_place_in_a_batch() {
        let mut clients = clients();
        let one = b"PROXY TCP4 192.0.2.7 192.0.2.8 4321 514\r\n<13>one";
        let other = b"PROXY TCP4 192.0.2.7 192.0.2.9 4321 514\r\n<13>other";
        let itself = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0<13>itself";
        let balancer: SocketAddr = "198.51.100.1:9".parse().expect("address");
        for _ in 0..2 {
            let mut batch = Batch::default();
            clients.begin_batch(Instant::now());
            let datagrams: [&[u8]; 5] = [one, other, one, itself, itself];
            let places = datagrams.map(|datagram| {
                let (header, message) = header(datagram).expect("a header");
                assert!(message.starts_with(b"<13>"));
                clients.place(&header, balancer, &mut batch)
            });
            assert_eq!(places, [0, 1, 0, 2, 2]);
            let peers: Vec<String> = batch
                .contexts
                .iter()
                .map(|context| format!("{:?} {}", context.peer, context.host_from))
                .collect();
            assert!(peers[0].contains("192.0.2.8:514") && peers[0].contains("198.51.100.1:9"), "{peers:?}");
            assert!(peers[1].contains("192.0.2.9:514") && peers[1].ends_with("192.0.2.7"), "{peers:?}");
            assert!(peers[2].ends_with("198.51.100.1"), "{peers:?}");
        }
    }

    #[test]
    fn what_has_no_header_is_refused_with_the_reason() {
        for (datagram, why) in [
            (&b"<13>no header"[..], "expected a PROXY header"),
            (b"PROXY TCP4 192.0.2.7", "ends within"),
            (b"", "ends within"),
        ] {
            let error = header(datagram).expect_err("no header");
            assert!(error.contains(why), "{error}");
        }
    }

    fn place_clients(clients: &mut Clients, ports: std::ops::RangeInclusive<u16>) {
        let mut batch = Batch::default();
        clients.begin_batch(Instant::now());
        for port in ports {
            let text = format!("PROXY TCP4 192.0.2.7 192.0.2.8 {port} 514\r\n");
            let (header, _) = header(text.as_bytes()).expect("a header");
            clients.place(&header, "198.51.100.1:9".parse().expect("address"), &mut batch);
        }
    }

    #[test]
    fn invented_addresses_do_not_fill_the_memory() {
        let mut clients = clients();
        place_clients(&mut clients, 1..=20_000);
        assert!(clients.known.len() <= ROUTES_MAX);
    }

    #[test]
    fn a_route_that_is_known_costs_the_others_nothing() {
        let mut clients = clients();
        place_clients(&mut clients, 1..=ROUTES_MAX as u16);
        place_clients(&mut clients, 1..=1);
        assert_eq!(clients.known.len(), ROUTES_MAX);
        place_clients(&mut clients, 20_000..=20_000);
        assert_eq!(clients.known.len(), 1);
    }
}
