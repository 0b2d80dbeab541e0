//! The two ends: what accepts sessions for a source, what begins them for a destination. Certificates are read when the
//! configuration is, and a session keeps what it began with.

use crate::certificate::Certificate;
use crate::material;
use crate::options::Options;
use crate::reason;
use crate::session::Session;
use crate::verifier::{ClientVerifier, ServerVerifier};
use parking_lot::{Mutex, RwLock};
use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::crypto::CryptoProvider;
use rustls::server::{NoServerSessionStorage, UnbufferedServerConnection};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, KeyLog, ProtocolVersion, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// A certificate that ends sooner is warned of.
const EXPIRY_WARNING_SECONDS: i64 = 30 * 86_400;

/// One side's configuration. All who say the same share it, over reloads too: read again, it serves the next handshakes.
pub struct Endpoint<Config> {
    options: Options,
    config: RwLock<Arc<Config>>,
}

pub type Acceptor = Endpoint<ServerConfig>;
pub type Connector = Endpoint<ClientConfig>;

type Known<Config> = Mutex<Vec<Weak<Endpoint<Config>>>>;

static ACCEPTORS: Known<ServerConfig> = Mutex::new(Vec::new());
static CONNECTORS: Known<ClientConfig> = Mutex::new(Vec::new());

impl Acceptor {
    /// Reads the files. Where the same options are in use already, their next sessions have what was read; when it cannot be
    /// read, what they had stays, and a message says so.
    pub fn load(options: &Options) -> Result<Arc<Acceptor>, String> {
        share(&ACCEPTORS, options, server_config(options))
    }

    pub fn session(&self) -> Result<Session, String> {
        let config = Arc::clone(&self.config.read());
        UnbufferedServerConnection::new(config).map(Session::server).map_err(|error| reason::session(&error))
    }
}

impl Connector {
    /// As [`Acceptor::load`].
    pub fn load(options: &Options) -> Result<Arc<Connector>, String> {
        share(&CONNECTORS, options, client_config(options))
    }

    /// Begins a session with the host that is called this, a name or an address.
    pub fn session(&self, host: &str) -> Result<Session, String> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("`{host}` is no host name a certificate could have"))?;
        let config = Arc::clone(&self.config.read());
        UnbufferedClientConnection::new(config, name)
            .map(Session::client)
            .map_err(|error| reason::session(&error))
    }
}

fn share<Config>(
    known: &Known<Config>,
    options: &Options,
    config: Result<Config, String>,
) -> Result<Arc<Endpoint<Config>>, String> {
    let mut known = known.lock();
    known.retain(|endpoint| endpoint.strong_count() > 0);
    let in_use = known.iter().filter_map(Weak::upgrade).find(|endpoint| endpoint.options == *options);
    match (config, in_use) {
        (Ok(config), Some(endpoint)) => {
            *endpoint.config.write() = Arc::new(config);
            Ok(endpoint)
        }
        (Ok(config), None) => {
            let config = RwLock::new(Arc::new(config));
            let endpoint = Arc::new(Endpoint { options: options.clone(), config });
            known.push(Arc::downgrade(&endpoint));
            Ok(endpoint)
        }
        (Err(error), Some(endpoint)) => {
            oplog::error("Cannot read certificates anew, those in use stay", &[("error", &error)]);
            Ok(endpoint)
        }
        (Err(error), None) => Err(error),
    }
}

fn server_config(options: &Options) -> Result<ServerConfig, String> {
    let provider = Arc::new(provider(options));
    let (chain, key) = own(options)?.ok_or("a TLS source needs key-file() and cert-file()")?;
    let verifier = Arc::new(ClientVerifier::new(options, &provider)?);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(options))
        .map_err(|error| reason::session(&error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|error| mismatch(options, &error))?;
    // Whoever comes back is looked at again: sessions are not resumed past a certificate that has expired since.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    if let Some(path) = &options.keylog_file {
        config.key_log = key_log(path)?;
    }
    Ok(config)
}

fn client_config(options: &Options) -> Result<ClientConfig, String> {
    let provider = Arc::new(provider(options));
    let verifier = Arc::new(ServerVerifier::new(options, &provider)?);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(options))
        .map_err(|error| reason::session(&error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match own(options)? {
        Some((chain, key)) => {
            builder.with_client_auth_cert(chain, key).map_err(|error| mismatch(options, &error))?
        }
        None => builder.with_no_client_auth(),
    };
    config.enable_sni = options.sni;
    config.resumption = Resumption::disabled();
    if let Some(path) = &options.keylog_file {
        config.key_log = key_log(path)?;
    }
    Ok(config)
}

type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// This side's certificate chain and key.
fn own(options: &Options) -> Result<Option<Own>, String> {
    match (&options.cert_file, &options.key_file) {
        (None, None) => Ok(None),
        (Some(_), None) => Err("cert-file() needs key-file()".to_owned()),
        (None, Some(_)) => Err("key-file() needs cert-file()".to_owned()),
        (Some(cert), Some(key)) => {
            let chain = material::chain(cert)?;
            warn_of_expiry(cert, &chain);
            Ok(Some((chain, material::key(key)?)))
        }
    }
}

fn mismatch(options: &Options, error: &rustls::Error) -> String {
    let show = |path: &Option<std::path::PathBuf>| {
        path.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
    };
    let (key, cert) = (show(&options.key_file), show(&options.cert_file));
    match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("the key in {key} does not belong to the certificate in {cert}")
        }
        other => format!("the certificate in {cert} or the key in {key} cannot be used: {other}"),
    }
}

fn warn_of_expiry(path: &Path, chain: &[CertificateDer<'static>]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    for der in chain {
        let Some(read) = Certificate::read(der) else { continue };
        let left = read.not_after - now;
        let fields: [oplog::Field<'_>; 3] = [
            ("file", &path.display()),
            ("subject", &read.distinguished_name()),
            ("days", &(left.abs() / 86_400)),
        ];
        if left < 0 {
            oplog::warning("A certificate has expired, peers will refuse it", &fields);
        } else if left < EXPIRY_WARNING_SECONDS {
            oplog::warning("A certificate expires soon", &fields);
        }
    }
}

fn versions(options: &Options) -> Vec<&'static SupportedProtocolVersion> {
    let all = [(options.tls13, &TLS13), (options.tls12, &TLS12)];
    all.into_iter().filter_map(|(on, version)| on.then_some(version)).collect()
}

/// What can be negotiated. A list of suites of one version says nothing about the other, as in OpenSSL.
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
    provider
}

/// `keylog-file()`: secrets of sessions in the format Wireshark reads.
#[derive(Debug)]
struct KeyFile(Mutex<std::fs::File>);

fn key_log(path: &Path) -> Result<Arc<dyn KeyLog>, String> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let opened = options.append(true).create(true).mode(0o600).open(path);
    let file = opened.map_err(|error| format!("cannot write keylog-file({}): {error}", path.display()))?;
    oplog::warning("The secrets of TLS sessions are written to a file", &[("file", &path.display())]);
    Ok(Arc::new(KeyFile(Mutex::new(file))))
}

impl KeyLog for KeyFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        if let Err(error) = self.0.lock().write_all(line.as_bytes()) {
            oplog::limited(
                "keylog",
                oplog::Level::Error,
                "Cannot write the secrets of a TLS session",
                &[("error", &error)],
            );
        }
    }
}
