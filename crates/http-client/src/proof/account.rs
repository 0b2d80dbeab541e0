//! Service accounts of Google: tokens signed with the key of the account (RFC 7519, RS256), as its servers
//! take them without having been asked for one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A token is made anew so long before it ends.
const AHEAD: Duration = Duration::from_secs(60);
/// The largest file that is taken for a key.
const FILE_BYTES_MAX: usize = 64 * 1024;

/// What a token is good for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// A service, `https://host/package.Service`.
    Audience(String),
    /// What may be done, at any service.
    Scope(String),
}

pub struct Account {
    email: String,
    key_id: String,
    key: RsaKeyPair,
    validity: Duration,
    /// The last one.
    kept: Mutex<Option<Claimed>>,
}

struct Claimed {
    claim: Claim,
    token: String,
    until: Duration,
}

impl Account {
    /// Reads the file that Google gives out for an account.
    pub fn read(path: &Path, validity: Duration) -> Result<Account, String> {
        let failed = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        if text.len() > FILE_BYTES_MAX {
            return Err(failed("it is too large for the key of an account".to_owned()));
        }
        let file: Value = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        let kind = file.get("type").and_then(Value::as_str).unwrap_or("service_account");
        if kind != "service_account" {
            return Err(failed(format!("it is of the type `{kind}`, and no key of a service account")));
        }
        let part = |name: &str| {
            let text = file.get(name).and_then(Value::as_str);
            text.map(str::to_owned).ok_or_else(|| failed(format!("there is no `{name}` in it")))
        };
        let pem = part("private_key")?;
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| failed(format!("its private_key cannot be read: {error}")))?;
        let key = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der())
            .map_err(|error| failed(format!("its private_key cannot be used: {error}")))?;
        let (email, key_id) = (part("client_email")?, part("private_key_id")?);
        Ok(Account { email, key_id, key, validity, kept: Mutex::default() })
    }

    /// Whose tokens they are, and how long each is good.
    pub fn mark(&self) -> (&str, &str, Duration) {
        (&self.email, &self.key_id, self.validity)
    }

    /// The value of `Authorization`.
    pub fn authorization(&self, claim: &Claim, now: SystemTime) -> Result<String, String> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut kept = self.kept.lock();
        if let Some(kept) = &*kept
            && kept.claim == *claim
            && now + AHEAD.min(self.validity / 2) < kept.until
        {
            return Ok(format!("Bearer {}", kept.token));
        }
        let until = now + self.validity;
        let token = self.token(claim, (now, until))?;
        let value = format!("Bearer {token}");
        *kept = Some(Claimed { claim: claim.clone(), token, until });
        Ok(value)
    }

    /// The next token is made anew.
    pub fn forget(&self) {
        *self.kept.lock() = None;
    }

    fn token(&self, claim: &Claim, (from, until): (Duration, Duration)) -> Result<String, String> {
        let head = json!({"alg": "RS256", "typ": "JWT", "kid": self.key_id});
        let (name, text) = match claim {
            Claim::Audience(service) => ("aud", service),
            Claim::Scope(scope) => ("scope", scope),
        };
        let claims = json!({
            "iss": self.email,
            "sub": self.email,
            name: text,
            "iat": from.as_secs(),
            "exp": until.as_secs(),
        });
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(&head), encoded(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| "the key of the service account cannot sign".to_owned())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
