//! `snmp()` with informs, which net-snmp's receiver answers.

use super::{Destination, House, PLAIN, Receiver, Trial, Way};
use crate::lab::Lab;
use crate::snmp::{MISSING, Snmptrapd};

const UDP: &str = "SNMP is sent in datagrams without TLS";

pub(super) const ALL: &[Destination] = &[Destination {
    name: "snmp",
    missing: MISSING,
    start,
    // An inform is answered before the next one goes.
    count: 1000,
    without: &[(Trial::Certificate, UDP), (Trial::Slow, "its datagrams do not go through a proxy of TCP")],
    ..PLAIN
}];

const TEXT: &str = ".1.3.6.1.4.1.18372.3.1.1.1.1.1.0";
const NUMBER: &str = ".1.3.6.1.4.1.18372.3.1.1.1.1.2.0";

struct Traps(Snmptrapd);

fn start(lab: &Lab, _: House) -> Option<Box<dyn Receiver>> {
    let user = "createUser me SHA \"good word\" AES \"secret two\"";
    Some(Box::new(Traps(Snmptrapd::start(lab, user)?)))
}

impl Receiver for Traps {
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let login = format!(
            "version(v3) auth-username(\"me\") auth-password(\"{} word\") enc-password(\"secret two\")",
            way.word()
        );
        let login = if way.house == House::Guarded { login } else { String::new() };
        format!(
            "snmp(host(\"127.0.0.1\") port({}) inform(yes) timeout(1) time-reopen(1) {login} \
             trap-obj(\".1.3.6.1.6.3.1.1.4.1.0\" \"Objectid\" \".1.3.6.1.4.1.18372.3.1.1.1\") \
             snmp-obj(\"{TEXT}\" \"Octetstring\" \"$MSG\") snmp-obj(\"{NUMBER}\" \"Integer\" \"$PID\") {})",
            way.port, way.options
        )
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn texts(&self) -> Vec<String> {
        self.0.texts(TEXT)
    }

    fn mend(&mut self) -> bool {
        false
    }
}
