//! Which server and which of its addresses comes next: in turn after each failure, with a pause when all were
//! tried.

use super::lookup::Found;
use super::{Address, Lookup, Nudge};
use std::sync::Arc;

pub struct Route {
    servers: Vec<Lookup>,
    server: usize,
    /// Next address of that server.
    address: usize,
    /// Servers given up since the last pause.
    given_up: usize,
    /// Why the last name was not found.
    unknown: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Try(Address),
    /// A name is being looked up.
    Asking,
    /// Every server was tried: wait for time-reopen().
    Pause,
}

impl Route {
    /// `servers`: the first one is the primary.
    pub fn new(servers: Vec<Lookup>) -> Route {
        Route { servers, server: 0, address: 0, given_up: 0, unknown: None }
    }

    /// Servers by name or address, all with the same port.
    pub fn hosts(servers: &[String], port: u16, ipv6: bool) -> Route {
        Route::new(servers.iter().map(|host| Lookup::host(host, port, ipv6)).collect())
    }

    pub fn next(&mut self, nudge: &Arc<Nudge>) -> Next {
        loop {
            if self.given_up >= self.servers.len() {
                self.given_up = 0;
                return Next::Pause;
            }
            let Some(lookup) = self.servers.get_mut(self.server) else { return Next::Pause };
            let name = lookup.name().to_owned();
            match lookup.find(nudge) {
                Found::Asking => return Next::Asking,
                Found::Addresses(found) => {
                    if let Some(address) = found.get(self.address) {
                        return Next::Try(address.clone());
                    }
                }
                Found::Failed(error) => {
                    oplog::error("Cannot look up a server", &[("host", &name), ("error", &error)]);
                    self.unknown = Some(format!("cannot look up {name}: {error}"));
                }
            }
            self.give_up();
        }
    }

    /// Why a name was not found, once after each time.
    pub fn take_unknown(&mut self) -> Option<String> {
        self.unknown.take()
    }

    /// The address in use does not answer: its server's next one, then the next server.
    pub fn failed(&mut self) {
        self.address += 1;
    }

    /// The connection broke: the next server. `lasted` says that it was up long enough to count as a success.
    pub fn broke(&mut self, lasted: bool) {
        if lasted {
            self.given_up = 0;
        }
        self.give_up();
    }

    fn give_up(&mut self) {
        if let Some(lookup) = self.servers.get_mut(self.server) {
            lookup.forget();
        }
        self.server = (self.server + 1) % self.servers.len().max(1);
        self.address = 0;
        self.given_up += 1;
    }

    /// Goes back to the first server.
    pub fn go_back(&mut self) {
        (self.server, self.address, self.given_up) = (0, 0, 0);
    }

    pub fn is_primary(&self) -> bool {
        self.server == 0
    }

    /// The server whose address [`Route::next`] gave, as configured.
    pub fn server_name(&self) -> &str {
        self.servers.get(self.server).map_or("", Lookup::name)
    }

    pub fn primary_name(&self) -> &str {
        self.servers.first().map_or("", Lookup::name)
    }

    /// An address of the first server, to see whether it answers again.
    pub fn primary(&mut self, nudge: &Arc<Nudge>) -> Option<Address> {
        match self.servers.first_mut()?.find(nudge) {
            Found::Addresses(found) => found.first().cloned(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> Next {
        Next::Try(Address::Inet(([192, 0, 2, last], 514).into()))
    }

    #[test]
    fn servers_take_turns_and_a_round_ends_with_a_pause() {
        let nudge = Arc::default();
        let servers = [1, 2].map(|n| Lookup::host(&format!("192.0.2.{n}"), 514, false));
        let mut route = Route::new(servers.into());
        assert_eq!(route.next(&nudge), address(1));
        route.failed();
        assert_eq!(route.next(&nudge), address(2));
        route.failed();
        assert_eq!(route.next(&nudge), Next::Pause);
        assert_eq!(route.next(&nudge), address(1));
        route.broke(true);
        assert_eq!(route.next(&nudge), address(2));
        // Connections that break at once do not make a loop without a pause.
        route.broke(false);
        assert_eq!(route.next(&nudge), Next::Pause);
        assert_eq!(route.next(&nudge), address(1));
        route.broke(true);
        assert!(!route.is_primary());
        route.go_back();
        assert_eq!((route.is_primary(), route.next(&nudge)), (true, address(1)));
    }
}
