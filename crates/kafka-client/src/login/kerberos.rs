//! Logins by Kerberos: each asks the servers of the realm, on a thread that may wait.

use gssapi::{Error, Exchange, Service, Whom};
use kafka::{Fault, Login, Opening, Speaker};

/// What every broker is called, and as whom the program shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kerberos {
    /// `sasl.kerberos.service.name`.
    pub service: String,
    pub whom: Whom,
}

struct Words(Exchange);

impl Speaker for Words {
    fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.0.hear(said).map_err(|error| error.to_string())
    }
}

impl Kerberos {
    /// A login at this broker. Waits.
    pub fn login(&self, host: &str) -> Result<Login, Fault> {
        let service = Service { name: self.service.clone(), host: host.to_owned() };
        match Exchange::begin(&service, &self.whom) {
            Ok(begun) => Ok(Login::Kerberos(Opening::new(begun.words, Box::new(Words(begun.exchange))))),
            // Somebody has to do something about it.
            Err(error @ Error::NoLibrary(_)) => Err(Fault::Refused(error.to_string())),
            Err(error) => Err(Fault::Broken(error.to_string())),
        }
    }
}
