//! The two ends: what accepts sessions for a source, what begins them for a destination. Certificates are
//! read when the configuration is, and a session keeps what it began with.

use crate::identity::{self, Expiry, warn_of_expiry};
use crate::keylog;
use crate::options::Options;
use crate::reason;
use crate::secrets::{self, Locked, State};
use crate::session::Session;
use crate::verifier::{ClientVerifier, ServerVerifier};
use diag::Fault;
use parking_lot::{Mutex, RwLock};
use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::crypto::CryptoProvider;
use rustls::server::{NoServerSessionStorage, UnbufferedServerConnection};
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ProtocolVersion, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::ServerName;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};

/// Certificates in use are looked at this often, when connections come.
const EXPIRY_LOOK_SECONDS: i64 = 86_400;

/// One side's configuration. All who say the same share it, over reloads too: read again, it serves the next
/// handshakes.
pub struct Endpoint<Config> {
    options: Options,
    /// Or what it waits for.
    loaded: RwLock<Result<Loaded<Config>, Fault>>,
    /// When its certificates' ends were looked at, in seconds since 1970.
    looked: AtomicI64,
}

struct Loaded<Config> {
    config: Arc<Config>,
    ends: Vec<Expiry>,
}

pub type Acceptor = Endpoint<ServerConfig>;
pub type Connector = Endpoint<ClientConfig>;

type Known<Config> = Mutex<Vec<Weak<Endpoint<Config>>>>;

static ACCEPTORS: Known<ServerConfig> = Mutex::new(Vec::new());
static CONNECTORS: Known<ClientConfig> = Mutex::new(Vec::new());

impl Acceptor {
    /// Reads the files. Where the same options are in use already, their next sessions have what was read;
    /// when it cannot be read, what they had stays, and a message says so. A key that waits for its
    /// passphrase is no error: until it comes, sessions are refused with that reason.
    pub fn load(options: &Options) -> Result<Arc<Acceptor>, Fault> {
        share(&ACCEPTORS, options, server_config(options))
    }

    pub fn session(&self) -> Result<Session, Fault> {
        let session = UnbufferedServerConnection::new(self.config()?);
        session.map(Session::server).map_err(|error| reason::session(&error))
    }
}

impl Connector {
    /// As [`Acceptor::load`].
    pub fn load(options: &Options) -> Result<Arc<Connector>, Fault> {
        share(&CONNECTORS, options, client_config(options))
    }

    /// Begins a session with the host that is called this, a name or an address.
    pub fn session(&self, host: &str) -> Result<Session, Fault> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            Fault::misconfigured(format!("`{host}` is no host name a certificate could have"))
        })?;
        let session = UnbufferedClientConnection::new(self.config()?, name);
        session.map(Session::client).map_err(|error| reason::session(&error))
    }
}

impl Acceptor {
    /// For libraries that serve sessions of their own.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>, Fault> {
        self.config()
    }
}

impl Connector {
    /// For client libraries that run sessions of their own. What it says of an error, [`said`] says in our
    /// words.
    pub fn client_config(&self) -> Result<Arc<ClientConfig>, Fault> {
        self.config()
    }
}

/// The reason why a session of such a library failed, as the log says it elsewhere.
pub fn said(error: &std::io::Error) -> String {
    fault(error).into()
}

/// The same with whose fault it is.
pub fn fault(error: &std::io::Error) -> Fault {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => reason::session(inner),
        None => Fault::of_connection(error, error.to_string()),
    }
}

impl<Config> Endpoint<Config> {
    fn config(&self) -> Result<Arc<Config>, Fault> {
        let loaded = self.loaded.read();
        let loaded = loaded.as_ref().map_err(Fault::clone)?;
        let now = identity::now();
        if now - self.looked.load(Ordering::Relaxed) > EXPIRY_LOOK_SECONDS {
            self.looked.store(now, Ordering::Relaxed);
            warn_of_expiry(&loaded.ends);
        }
        Ok(Arc::clone(&loaded.config))
    }

    fn take(&self, fresh: Loaded<Config>) {
        warn_of_expiry(&fresh.ends);
        self.looked.store(identity::now(), Ordering::Relaxed);
        *self.loaded.write() = Ok(fresh);
    }
}

/// Certificates that are shown to peers by whatever is running, each file's once.
pub fn certificates() -> Vec<Expiry> {
    let mut all = ends(&ACCEPTORS);
    all.extend(ends(&CONNECTORS));
    all.sort();
    all.dedup();
    all
}

fn ends<Config>(known: &Known<Config>) -> Vec<Expiry> {
    let running: Vec<_> = known.lock().iter().filter_map(Weak::upgrade).collect();
    let of = |endpoint: &Arc<Endpoint<Config>>| {
        endpoint.loaded.read().as_ref().map(|loaded| loaded.ends.clone()).unwrap_or_default()
    };
    running.iter().flat_map(of).collect()
}

/// Takes the passphrase of a key file. What waits for it goes on. The outcome as a sentence.
pub fn unlock(path: &Path, secret: &[u8]) -> Result<String, Fault> {
    secrets::keep(path, secret)?;
    let mut errors = retry(&ACCEPTORS, path, server_config);
    errors.extend(retry(&CONNECTORS, path, client_config));
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let state = secrets::states().into_iter().find(|(file, _)| file == path).map(|(_, state)| state);
    Ok(match state {
        Some(State::Success) => format!("The passphrase of {} is good", path.display()),
        _ => format!("The passphrase of {} is kept; nothing needs it now", path.display()),
    })
}

type Read<Config> = Result<Loaded<Config>, Locked>;

/// Reads anew whatever uses the file.
fn retry<Config>(known: &Known<Config>, path: &Path, read: fn(&Options) -> Read<Config>) -> Vec<Fault> {
    let all: Vec<_> = known.lock().iter().filter_map(Weak::upgrade).collect();
    let mut errors = Vec::new();
    for endpoint in all.iter().filter(|endpoint| endpoint.options.secret_file() == Some(path)) {
        match read(&endpoint.options) {
            Ok(fresh) => endpoint.take(fresh),
            Err(Locked::Waits(error) | Locked::Broken(error)) => errors.push(error),
        }
    }
    errors
}

fn share<Config>(
    known: &Known<Config>,
    options: &Options,
    read: Read<Config>,
) -> Result<Arc<Endpoint<Config>>, Fault> {
    let mut known = known.lock();
    known.retain(|endpoint| endpoint.strong_count() > 0);
    let in_use = known.iter().filter_map(Weak::upgrade).find(|endpoint| endpoint.options == *options);
    let endpoint = in_use.unwrap_or_else(|| {
        let (loaded, looked) =
            (RwLock::new(Err(Fault::bug("its files are not read yet"))), AtomicI64::new(0));
        Arc::new(Endpoint { options: options.clone(), loaded, looked })
    });
    match read {
        Ok(fresh) => endpoint.take(fresh),
        Err(Locked::Waits(error) | Locked::Broken(error)) if endpoint.loaded.read().is_ok() => {
            oplog::error("Cannot read certificates anew, those in use stay", &[("error", &error)]);
        }
        Err(Locked::Waits(error)) => {
            oplog::error("A private key waits for its passphrase", &[("error", &error)]);
            *endpoint.loaded.write() = Err(error);
        }
        Err(Locked::Broken(error)) => return Err(error),
    }
    if !known.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(&endpoint))) {
        known.push(Arc::downgrade(&endpoint));
    }
    Ok(endpoint)
}

fn server_config(options: &Options) -> Read<ServerConfig> {
    let provider = Arc::new(provider(options));
    let own = identity::load(options, &provider, &options.sigalgs)?
        .ok_or_else(|| Fault::misconfigured("a TLS source needs key-file() and cert-file()"))?;
    let verifier = Arc::new(ClientVerifier::new(options, &own.beside, &provider)?);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(options))
        .map_err(|error| reason::session(&error))?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(own.shown)));
    // Whoever comes back is looked at again: sessions are not resumed past a certificate that has expired
    // since.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.ignore_client_order = true;
    config.send_tls13_tickets = 0;
    if let Some(path) = &options.keylog_file {
        config.key_log = keylog::open(path)?;
    }
    Ok(Loaded { config: Arc::new(config), ends: own.ends })
}

fn client_config(options: &Options) -> Read<ClientConfig> {
    let provider = Arc::new(provider(options));
    let own = identity::load(options, &provider, &options.client_sigalgs)?;
    let beside = own.as_ref().map(|own| own.beside.as_slice()).unwrap_or_default();
    let verifier = Arc::new(ServerVerifier::new(options, beside, &provider)?);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(options))
        .map_err(|error| reason::session(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let (mut config, ends) = match own {
        Some(own) => {
            (builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own.shown))), own.ends)
        }
        None => (builder.with_no_client_auth(), Vec::new()),
    };
    config.enable_sni = options.sni;
    config.resumption = Resumption::disabled();
    if let Some(path) = &options.keylog_file {
        config.key_log = keylog::open(path)?;
    }
    Ok(Loaded { config: Arc::new(config), ends })
}

fn versions(options: &Options) -> Vec<&'static SupportedProtocolVersion> {
    let all = [(options.tls13, &TLS13), (options.tls12, &TLS12)];
    all.into_iter().filter_map(|(on, version)| on.then_some(version)).collect()
}

/// What can be negotiated. A list of suites of one version says nothing about the other, as in OpenSSL. AES
/// with 128 bits comes first (RFC 8446 section 9.1 makes it everybody's): it takes a quarter less CPU than
/// with 256, and its handshake's SHA-256 has an instruction of its own.
fn provider(options: &Options) -> CryptoProvider {
    let mut provider = rustls::crypto::ring::default_provider();
    let wanted = &options.cipher_suites;
    let of = |version: ProtocolVersion| {
        provider.cipher_suites.iter().filter(move |s| s.version().version == version).map(|s| s.suite())
    };
    let limited = |version| of(version).any(|suite| wanted.contains(&suite));
    let (tls12, tls13) = (limited(ProtocolVersion::TLSv1_2), limited(ProtocolVersion::TLSv1_3));
    provider.cipher_suites.retain(|suite| match suite.version().version {
        ProtocolVersion::TLSv1_3 if tls13 => wanted.contains(&suite.suite()),
        ProtocolVersion::TLSv1_2 if tls12 => wanted.contains(&suite.suite()),
        _ => true,
    });
    match wanted.is_empty() {
        true => provider
            .cipher_suites
            .sort_by_key(|suite| suite.suite().as_str().is_none_or(|name| !name.contains("AES_128"))),
        // As the list says: whoever gives one has reasons for its order.
        false => {
            provider.cipher_suites.sort_by_key(|suite| wanted.iter().position(|name| *name == suite.suite()))
        }
    }
    if !options.groups.is_empty() {
        // In the order of the list: it is one of preferences.
        let all = std::mem::take(&mut provider.kx_groups);
        let named = |name| all.iter().copied().find(move |group| group.name() == name);
        provider.kx_groups = options.groups.iter().filter_map(|&name| named(name)).collect();
    }
    provider
}
