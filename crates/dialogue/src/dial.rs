//! How a server is connected to, as the configuration says it.

use crate::proxy::Proxy;
use delivery::dialing::Secured;
use delivery::link::{Link, Owner};
use delivery::single::SinkContext;
use delivery::target::{Address, Connect, Lookup, Route};
use delivery::tunnel::Tunnel;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tls::Connector;

pub struct Dial {
    pub host: String,
    pub port: u16,
    pub ipv6: bool,
    pub connect: Connect,
    /// Through which the server is reached, where there is one.
    pub proxy: Option<Proxy>,
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
        format!("{} {} {tls:?} {:?} {:?}", self.name(), self.ipv6, self.answer_max, self.proxy)
    }

    pub(crate) fn route(&self) -> Route {
        let (host, port) = match &self.proxy {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&self.host, self.port),
        };
        Route::new(vec![Lookup::host(host, port, self.ipv6)])
    }

    pub(crate) fn connect(&self, address: &Address, place: &SinkContext) -> io::Result<Link> {
        self.call(address, &Owner::from(place))
    }

    pub(crate) fn call(&self, address: &Address, seat: &Owner) -> io::Result<Link> {
        let session = match self.connector()? {
            Some(connector) => Some(connector.session(&self.host).map_err(io::Error::other)?),
            None => None,
        };
        let link = Link::seated(self.connect.stream(address)?, seat, session)?;
        Ok(match &self.proxy {
            Some(proxy) => link.through(Tunnel::new(&self.host, self.port, proxy.authorization.as_deref())),
            None => link,
        })
    }

    fn connector(&self) -> io::Result<Option<Arc<Connector>>> {
        let Some(secured) = &self.secured else { return Ok(None) };
        match &secured.connector {
            Some(connector) => Ok(Some(Arc::clone(connector))),
            None => Connector::load(&secured.options).map(Some).map_err(io::Error::other),
        }
    }
}
