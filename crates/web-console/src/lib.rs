//! The running program over HTTP, for people and scrapers: metrics, health, the ledger, the graph, a stream
//! of changes. A server with a thread of its own, so that what is asked here never touches a worker.
//!
//! It asks the program as the control socket does, through [`control::Subject`].

mod access;
mod data;
mod handler;
mod health;
mod history;
mod looks;
mod metrics;
mod options;
mod sampler;

pub use options::{Options, address, read};

use control::Subject;
use diag::Fault;
use http_server::{Hosts, Limits, Server, Settings};
use std::net::SocketAddr;
use std::sync::Arc;

/// The endpoint while it is open. Dropped, it closes at once.
pub struct Console {
    server: Server,
    options: Options,
}

impl Console {
    /// Opens it.
    pub fn start(options: Options, subject: Arc<dyn Subject>) -> Result<Console, Fault> {
        let place = format!("cannot open the console at {}", options.address);
        let local = |error: std::io::Error| Fault::local(error.to_string()).at(&place);
        if let Some(objection) = options.objection() {
            return Err(Fault::misconfigured(objection).at(&place));
        }
        let tls = options.tls.as_ref().map(tls::Acceptor::load).transpose();
        let tls = tls.map_err(|fault| fault.at(&place))?;
        let listener = transport::listen_tcp(options.address, &transport::SocketOptions::default(), BACKLOG)
            .map_err(local)?;
        let handler = handler::Pages::new(options.clone(), subject).map_err(local)?;
        let settings = Settings {
            name: "console".to_owned(),
            listener,
            tls,
            limits: Limits::ASKED,
            hosts: Hosts::Named(options.hosts.clone()),
        };
        let server = Server::start(settings, Arc::new(handler)).map_err(local)?;
        let address = server.address();
        oplog::notice("Console is open", &[("address", &address)]);
        Ok(Console { server, options })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn options(&self) -> &Options {
        &self.options
    }
}

/// Connections that the kernel may hold.
const BACKLOG: i32 = 128;
