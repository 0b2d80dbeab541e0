//! `mongodb()`: documents with a key that is the same in all messages of the program `bad`.

use super::{Destination, House, PLAIN, Receiver, Trial, Way, certificate};
use crate::lab::Lab;
use crate::mongodb::{MISSING, Mongodb};
use crate::proxy::Proxy;

pub(super) const ALL: &[Destination] = &[Destination {
    name: "mongodb",
    missing: MISSING,
    start,
    once: &[Trial::ServerKilled, Trial::CollectorKilled],
    ..PLAIN
}];

/// The server has nothing when it starts: a kill is a cable that is cut.
struct Cut(Mongodb, Proxy);

const KEY: &str = "pair(\"k\" \"$(if ('$PROGRAM' eq 'bad') bad '$MSG')\")";

fn start(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let files = (house == House::Secure).then(|| certificate(lab));
    let server = Mongodb::start(lab, files.as_ref().map(|(cert, key)| (key.as_path(), cert.as_path())))?;
    if house == House::Strict {
        server.ask("db.messages.create_index('k', unique=True)\ndb.messages.insert_one({'k': 'bad'})");
    }
    let proxy = Proxy::to(server.port());
    Some(Box::new(Cut(server, proxy)))
}

impl Receiver for Cut {
    fn port(&self) -> u16 {
        self.1.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        // The server knows no users: a right login is none.
        let login = if way.house == House::Guarded && way.is_wrong { "me:bad@" } else { "" };
        let ca = if way.is_wrong { "other" } else { "pki" };
        let tls = format!("?tls=true&tlsCAFile=%dir%/{ca}/ca.pem");
        let tls = if way.house == House::Secure { tls.as_str() } else { "" };
        format!(
            "mongodb(uri(\"mongodb://{login}127.0.0.1:{}/logs{tls}\") time-reopen(1) \
             value-pairs(pair(\"MESSAGE\" \"$MSG\") {KEY}) {})",
            way.port, way.options
        )
    }

    fn kill(&mut self) {
        self.1.cut();
    }

    fn run(&mut self) {}

    fn texts(&self) -> Vec<String> {
        let script = "for d in db.messages.find().batch_size(500):\n  if 'MESSAGE' in d: print(d['MESSAGE'])";
        self.0.ask(script)
    }

    fn mend(&mut self) -> bool {
        self.0.ask("db.messages.delete_one({'k': 'bad', 'MESSAGE': {'$exists': False}})");
        true
    }
}
