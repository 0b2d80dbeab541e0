//! What sources that serve HTTP have in common: where they listen, whom they take, how much.

use super::Desk;
use super::port::{Parts, RequestPort};
use crate::inet;
use crate::listener::inet_name;
use crate::reading::{finish, naming};
use crate::senders::{Naming, PeerFacts};
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::ports;
use engine::driver::{BuildContext, SourceDriver, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Address, Need, Shared};
use http_server::{Handler, Hosts, Limits, Server};
use record::Transport;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use transport::SocketOptions;

/// Connections that the kernel may hold.
const BACKLOG: i32 = 1024;

/// Makes whoever answers the requests of a source that is opened.
pub type MakeHandler = Arc<dyn Fn(Arc<Desk>) -> Arc<dyn Handler> + Send + Sync>;

pub struct Asked {
    address: SocketAddr,
    limits: Limits,
    answer_time: Duration,
    tls: Option<tls::Options>,
    window_messages: Option<usize>,
    keep_timestamp: bool,
    finish: engine::source::Finish,
    naming: Naming,
    group: Arc<str>,
    persist_name: Option<String>,
}

impl Asked {
    /// Reads the options of the groups `REQUESTS` and `SOURCE`. `port` is that of the driver when none is
    /// given.
    pub fn read(
        s: &Settings,
        cx: &BuildContext<'_>,
        port: u16,
        tls: Option<tls::Options>,
        diags: &mut Diagnostics,
    ) -> Result<Asked, Reported> {
        let ip = inet::ip(s, s.text("ip").is_some_and(|ip| ip.contains(':')), diags)?;
        let given = ports::port(s, "port", false, diags)?;
        let port = if s.is_set("port") { given } else { port };
        let size = s.size("max-request-size").unwrap_or(32 << 20) as usize;
        let connections_max = s.int("max-connections").unwrap_or(256).max(1) as usize;
        let limits = Limits {
            connections_max,
            body_bytes_max: size,
            bodies_bytes_max: size.saturating_mul(4).clamp(64 << 20, 1 << 31),
            ..Limits::SENT
        };
        if size > MAX_REQUEST_BYTES {
            let text = format!("max-request-size() is {MAX_REQUEST_BYTES} at most");
            diags.push(Diagnostic::error("D0220", text, s.span("max-request-size").ok_or(Reported)?));
            return Err(Reported);
        }
        Ok(Asked {
            address: SocketAddr::new(ip, port),
            limits,
            answer_time: s.seconds("answer-timeout").unwrap_or(Duration::from_secs(60)),
            tls,
            window_messages: s.int("log-iw-size").map(|n| n.max(1) as usize),
            keep_timestamp: s.bool("keep-timestamp").unwrap_or(true),
            finish: finish(s, cx, false, diags),
            naming: naming(s, cx.globals),
            group: cx.group.into(),
            persist_name: s.text("persist-name").map(str::to_owned),
        })
    }

    /// One connection at a time; others wait in the kernel.
    pub fn one_at_a_time(mut self) -> Asked {
        self.limits.connections_max = 1;
        self
    }

    /// The driver. `what` is everything that the handler depends on: when it differs after a reload, the
    /// source is opened anew.
    pub fn driver(self, driver: &'static str, what: &str, handler: MakeHandler) -> SourceDriver {
        let Asked { address, limits, answer_time, tls, window_messages, naming, .. } = &self;
        let key = self.persist_name.clone().unwrap_or_else(|| format!("{driver}({address})"));
        let opened_with = format!(
            "{} {address} {limits:?} {answer_time:?} {tls:?} {window_messages:?} {naming:?} {} {what}",
            self.group, self.keep_timestamp
        );
        let finish = self.finish.clone();
        // Read already, so that a reload finds the certificates of running sources.
        let secure = tls.as_ref().map(tls::Acceptor::load);
        SourceDriver {
            key,
            opened_with,
            driver,
            instance: format!("{driver},{address}"),
            carrier: Carrier::Connections {
                address: inet_name(*address),
                persist_name: self.persist_name.clone(),
            },
            settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program)),
            start: Box::new(RequestStart { asked: self, driver, handler, secure }),
        }
    }
}

/// The largest request that may be allowed.
pub const MAX_REQUEST_BYTES: usize = 1 << 29;

struct RequestStart {
    asked: Asked,
    driver: &'static str,
    handler: MakeHandler,
    secure: Option<Result<Arc<tls::Acceptor>, Fault>>,
}

impl RequestStart {
    fn failed(&self, error: &std::io::Error) -> Fault {
        inet::cannot_listen(self.asked.address, error)
    }
}

impl Start for RequestStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let Asked { address, limits, answer_time, naming, group, window_messages, .. } = &self.asked;
        let tls = self.secure.clone().transpose().map_err(|error| inet::cannot_serve(&error))?;
        let worker = shared.any_worker()?;
        let listener = transport::listen_tcp(*address, &SocketOptions::default(), BACKLOG)
            .map_err(|error| self.failed(&error))?;
        let desk = Desk::new(*answer_time);
        source.counters.connections_max.store(limits.connections_max as u64, Ordering::Relaxed);
        let name = if tls.is_some() { "https" } else { "http" };
        let settings = http_server::Settings {
            name: self.driver.to_owned(),
            listener,
            tls,
            limits: *limits,
            hosts: Hosts::Any,
        };
        let server = Server::start(settings, (self.handler)(Arc::clone(&desk)))
            .map_err(|error| self.failed(&error))?;
        let facts = PeerFacts { group: Arc::clone(group), transport: Transport(name), ip_protocol: 6 };
        let parts = Parts {
            source: Arc::clone(source),
            desk,
            server,
            facts,
            naming: naming.clone(),
            window_messages: *window_messages,
            keep_timestamp: self.asked.keep_timestamp,
        };
        worker.add(move |token, cx| Ok(Box::new(RequestPort::new(parts, cx, token))));
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        let address = self.asked.address;
        let listens = Need::Address(Address { address, udp: false, shared: false, interface: None });
        let keys = || match &self.secure {
            Some(Err(error)) => Err(inet::cannot_serve(error)),
            _ => Ok(()),
        };
        let never = move || {
            let tried = transport::try_address(address, false, &SocketOptions::default());
            tried.map_err(|error| self.failed(&error))
        };
        vec![listens, Need::Trial(Box::new(keys)), Need::Trial(Box::new(never))]
    }
}
