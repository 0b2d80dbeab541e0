//! `s3()`: objects of lines. That of the program `bad` has a name which is too long.

use super::{Destination, House, PLAIN, Receiver, Trial, Way, certificate};
use crate::lab::Lab;
use crate::s3::{MISSING, S3};

pub(super) const ALL: &[Destination] = &[Destination {
    name: "s3",
    missing: MISSING,
    start,
    once: &[Trial::ServerKilled, Trial::CollectorKilled],
    at_end: true,
    ..PLAIN
}];

struct Objects {
    server: S3,
    /// What the name of an object begins with.
    name: &'static str,
}

/// No server takes a name of so many bytes.
const NAME: &str = "logs/$(if ('$PROGRAM' eq 'bad') $(padding a 1100 b) app)";

fn start(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let server = match house {
        House::Secure => {
            let (cert, key) = certificate(lab);
            S3::secured(lab, cert, key)?
        }
        _ => S3::start(lab)?,
    };
    Some(Box::new(Objects { server, name: if house == House::Strict { NAME } else { "logs/app" } }))
}

impl Receiver for Objects {
    fn port(&self) -> u16 {
        self.server.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let scheme = if way.house == House::Secure { "https" } else { "http" };
        let secret = if way.word() == "bad" { "wrong" } else { "secret" };
        format!(
            "s3(url(\"{scheme}://127.0.0.1:{}\") bucket(\"logs\") access-key(\"access\") secret-key(\"{secret}\") \
             object-key(\"{}\") template(\"$MSG\\n\") max-object-size(20KiB) time-reopen(1) {} {})",
            way.port,
            self.name,
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn run(&mut self) {
        self.server.run();
    }

    fn texts(&self) -> Vec<String> {
        self.server.lines("logs/")
    }

    fn mend(&mut self) -> bool {
        self.name = "logs/app";
        true
    }
}
