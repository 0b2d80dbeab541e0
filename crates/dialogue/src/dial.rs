//! How a server is connected to, as the configuration says it.

use delivery::dialing::Secured;
use delivery::link::{Link, Owner};
use delivery::single::Place;
use delivery::target::{Address, Connect, Lookup, Route};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tls::Connector;

pub struct Dial {
    pub host: String,
    pub port: u16,
    pub ipv6: bool,
    pub connect: Connect,
    pub secured: Option<Secured>,
    /// An answer that takes longer does not come any more.
    pub answer_max: Duration,
}

impl Dial {
    /// For the log.
    pub fn name(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// Differs where connections have to be made anew.
    pub fn described(&self) -> String {
        let tls = self.secured.as_ref().map(|secured| &secured.options);
        format!("{} {} {tls:?} {:?}", self.name(), self.ipv6, self.answer_max)
    }

    pub(crate) fn route(&self) -> Route {
        Route::new(vec![Lookup::host(&self.host, self.port, self.ipv6)])
    }

    pub(crate) fn connect(&self, address: &Address, place: &Place) -> io::Result<Link> {
        self.call(address, &Owner::from(place))
    }

    pub(crate) fn call(&self, address: &Address, seat: &Owner) -> io::Result<Link> {
        let session = match self.connector()? {
            Some(connector) => Some(connector.session(&self.host).map_err(io::Error::other)?),
            None => None,
        };
        Link::seated(self.connect.stream(address)?, seat, session)
    }

    fn connector(&self) -> io::Result<Option<Arc<Connector>>> {
        let Some(secured) = &self.secured else { return Ok(None) };
        match &secured.connector {
            Some(connector) => Ok(Some(Arc::clone(connector))),
            None => Connector::load(&secured.options).map(Some).map_err(io::Error::other),
        }
    }
}
