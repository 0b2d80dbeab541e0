//! As whom requests are signed.

use std::fmt;
use zeroize::Zeroizing;

#[derive(Clone)]
pub struct Account {
    pub access_key: String,
    pub secret_key: Zeroizing<String>,
    /// Of credentials that are given for a time.
    pub token: Option<Zeroizing<String>>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "account {}", self.access_key)
    }
}

impl Account {
    /// `None` without one of the keys.
    pub fn new(access_key: String, secret_key: String, token: Option<String>) -> Option<Account> {
        let is_whole = !access_key.is_empty() && !secret_key.is_empty();
        let token = token.filter(|token| !token.is_empty()).map(Zeroizing::new);
        is_whole.then(|| Account { access_key, secret_key: Zeroizing::new(secret_key), token })
    }

    /// Out of `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    pub fn of_environment() -> Option<Account> {
        let value = |name: &str| std::env::var(name).ok();
        Account::new(value("AWS_ACCESS_KEY_ID")?, value("AWS_SECRET_ACCESS_KEY")?, value("AWS_SESSION_TOKEN"))
    }
}
