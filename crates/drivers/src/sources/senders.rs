//! Contexts of peers: what all messages of one sender have in common, with its name from the resolver.

use record::{Context, Peer, Transport};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
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
            peer: Peer::Inet { remote, local, proxy: None },
            host_from: host_from.into(),
            transport: self.transport,
            ip_protocol: self.ip_protocol,
            values: Vec::new(),
        })
    }
}

/// Senders a datagram socket remembers; the table starts anew when it is full, so that inventing addresses cannot fill the memory.
const SENDERS_MAX: usize = 8192;

/// Contexts of the senders to one datagram socket.
pub struct Senders {
    facts: PeerFacts,
    naming: Naming,
    known: HashMap<SocketAddr, Arc<Context>>,
    /// Names that were asked for and have come in meanwhile.
    named: Arc<parking_lot::Mutex<Vec<(SocketAddr, String)>>>,
}

impl Senders {
    pub fn new(facts: PeerFacts, naming: Naming) -> Senders {
        Senders { facts, naming, known: HashMap::new(), named: Arc::default() }
    }

    /// The context of a sender. Until its name is known it is called by its number.
    pub fn context(&mut self, remote: SocketAddr, local: SocketAddr) -> Arc<Context> {
        if let Some(context) = self.known.get(&remote) {
            return Arc::clone(context);
        }
        if self.known.len() >= SENDERS_MAX {
            self.known.clear();
        }
        let named = Arc::clone(&self.named);
        let name = self.naming.name(remote, move |name| named.lock().push((remote, name)));
        let name = name.unwrap_or_else(|| remote.ip().to_canonical().to_string());
        let context = self.facts.context(remote, local, &name);
        self.known.insert(remote, Arc::clone(&context));
        context
    }

    /// Takes in the names that were found since the last call.
    pub fn refresh(&mut self, local: SocketAddr) {
        let Some(mut named) = self.named.try_lock().filter(|n| !n.is_empty()) else { return };
        for (remote, name) in named.drain(..) {
            let context = self.facts.context(remote, local, &name);
            self.known.insert(remote, context);
        }
    }
}
