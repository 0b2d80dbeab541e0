//! What this side shows of itself: certificate chain and key, and when they end.

use crate::certificate::Certificate;
use crate::options::Options;
use crate::secrets::Locked;
use crate::{keys, material, pkcs12};
use diag::Fault;
use rustls::SignatureAlgorithm;
use rustls::SignatureScheme;
use rustls::crypto::CryptoProvider;
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A certificate that ends sooner is warned of.
const EXPIRY_WARNING_SECONDS: i64 = 30 * 86_400;

pub struct Identity {
    pub shown: Arc<CertifiedKey>,
    /// Authorities that came with them, in a PKCS#12 container.
    pub beside: Vec<CertificateDer<'static>>,
    pub ends: Vec<Expiry>,
}

/// When a certificate of this side ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expiry {
    pub file: PathBuf,
    pub subject: String,
    /// Seconds since 1970.
    pub not_after: i64,
}

/// `limit` are the signatures that may be made; empty: all the key can.
pub fn load(
    options: &Options,
    provider: &CryptoProvider,
    limit: &[SignatureScheme],
) -> Result<Option<Identity>, Locked> {
    let (chain, key, beside, file) = match (&options.pkcs12_file, &options.cert_file, &options.key_file) {
        (Some(file), None, None) => {
            let contents = pkcs12::open(file)?;
            let beside = contents.chain.iter().skip(1).cloned().collect();
            (contents.chain, contents.key, beside, file)
        }
        (None, Some(cert), Some(key)) => (material::chain(cert)?, keys::key(key)?, Vec::new(), cert),
        (None, None, None) => return Ok(None),
        (None, Some(_), None) => return Err(Fault::misconfigured("cert-file() needs key-file()").into()),
        (None, None, Some(_)) => return Err(Fault::misconfigured("key-file() needs cert-file()").into()),
        (Some(_), ..) => {
            let text = "pkcs12-file() holds key and certificate: leave out key-file() and cert-file()";
            return Err(Fault::misconfigured(text).into());
        }
    };
    let ends = expiries(file, &chain);
    let mut shown = certified(chain, key, provider).map_err(|error| mismatch(options, file, &error))?;
    if !limit.is_empty() {
        shown.key = Arc::new(LimitedKey { key: shown.key, schemes: limit.to_vec() });
    }
    Ok(Some(Identity { shown: Arc::new(shown), beside, ends }))
}

/// The chain with its key, which must be the certificate's. The library reads no certificate of X.509 version
/// 1, so there the keys are compared here.
fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, rustls::Error> {
    let Some(shown) = chain.first().and_then(|leaf| Certificate::key_of_version_1(leaf)) else {
        return CertifiedKey::from_der(chain, key, provider);
    };
    let key = provider.key_provider.load_private_key(key)?;
    if key.public_key().is_some_and(|own| own.as_ref() != shown) {
        return Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch));
    }
    Ok(CertifiedKey::new(chain, key))
}

fn mismatch(options: &Options, cert: &Path, error: &rustls::Error) -> Fault {
    let key = options.key_file.as_deref().unwrap_or(cert).display();
    let cert = cert.display();
    Fault::misconfigured(match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("the key in {key} does not belong to the certificate in {cert}")
        }
        other => format!("the certificate in {cert} or the key in {key} cannot be used: {other}"),
    })
}

fn expiries(file: &Path, chain: &[CertificateDer<'static>]) -> Vec<Expiry> {
    let read = chain.iter().filter_map(|der| Certificate::read(der));
    read.map(|read| Expiry {
        file: file.to_owned(),
        subject: read.distinguished_name(),
        not_after: read.not_after,
    })
    .collect()
}

pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0)
}

/// Says which certificates have ended or will soon.
pub fn warn_of_expiry(ends: &[Expiry]) {
    for end in ends {
        let left = end.not_after - now();
        let fields: [oplog::Field<'_>; 3] =
            [("file", &end.file.display()), ("subject", &end.subject), ("days", &(left.abs() / 86_400))];
        if left < 0 {
            oplog::warning("A certificate has expired, peers will refuse it", &fields);
        } else if left < EXPIRY_WARNING_SECONDS {
            oplog::warning("A certificate expires soon", &fields);
        }
    }
}

/// A key that makes some of the signatures it could: `sigalgs()`.
#[derive(Debug)]
struct LimitedKey {
    key: Arc<dyn SigningKey>,
    schemes: Vec<SignatureScheme>,
}

impl SigningKey for LimitedKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let both: Vec<_> = offered.iter().copied().filter(|scheme| self.schemes.contains(scheme)).collect();
        self.key.choose_scheme(&both)
    }

    fn public_key(&self) -> Option<rustls_pki_types::SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}
