//! GSSAPI with a real broker and a real realm.

use super::{assert_all, config, feed};
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::kafka::{Kafka, MISSING};
use testkit::kerberos::{self, Kerberos, REALM};
use testkit::{Lab, Penstock, run_command, skip};

const LISTENER: &str = "listener.name.sasl_plaintext";
/// Where brokers listen: that is their name, too.
const BROKER: &str = "kafka/127.0.0.1";

/// A realm, a broker in it that ends logins after three seconds, and the keys of `penstock`.
fn rig(lab: &Lab) -> Result<(Kerberos, Kafka, String), &'static str> {
    let realm = Kerberos::start(lab, "10m").ok_or(kerberos::MISSING)?;
    let broker = realm.add(BROKER);
    let keys = realm.add("penstock").display().to_string();
    let module = "com.sun.security.auth.module.Krb5LoginModule required";
    let listener = format!(
        "sasl.enabled.mechanisms=GSSAPI,PLAIN\nsasl.kerberos.service.name=kafka\n\
         {LISTENER}.gssapi.sasl.jaas.config={module} useKeyTab=true storeKey=true keyTab=\"{}\" \
         principal=\"{BROKER}@{REALM}\";\n{LISTENER}.gssapi.connections.max.reauth.ms=3000",
        broker.display()
    );
    let settings = format!("java.security.krb5.conf={}", realm.settings().display());
    let kafka = Kafka::start_with(lab, &listener, None, &[&settings]).ok_or(MISSING)?;
    kafka.create("logs", 1, &[]);
    Ok((realm, kafka, keys))
}

fn properties(more: &str) -> String {
    format!(
        "config(\"security.protocol\" => \"sasl_plaintext\" \"sasl.mechanism\" => \"GSSAPI\" \
         \"reconnect.backoff.max.ms\" => \"500\" {more})"
    )
}

fn shown(principal: &str, keytab: &str) -> String {
    properties(&format!(
        "\"sasl.kerberos.principal\" => \"{principal}\" \"sasl.kerberos.keytab\" => \"{keytab}\""
    ))
}

fn into(kafka: &Kafka, properties: &str) -> String {
    config(&kafka.with_login(), &format!("topic(logs) time-reopen(1) {properties}"))
}

fn start(lab: &Lab, realm: &Kerberos, config: &str) -> Penstock {
    Penstock::configure(lab, config).env("KRB5_CONFIG", &realm.settings().display().to_string()).ready()
}

#[test]
fn keys_of_a_file() {
    let lab = Lab::new();
    let (mut realm, mut kafka, keys) = match rig(&lab) {
        Ok(rig) => rig,
        Err(why) => return skip(why),
    };
    // Nobody of that name: held, said, nothing dropped.
    let mut penstock = start(&lab, &realm, &into(&kafka, &shown("nobody", &keys)));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("Kerberos cannot use the keys of nobody in ");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    penstock.reload_with(&lab, &into(&kafka, &shown(&format!("penstock@{REALM}"), &keys)));
    penstock.wait_settled(10);

    // The broker ends logins after three seconds: the connection logs in again, with the tickets that it has,
    // while the realm is away.
    realm.kill();
    let (began, mut sent) = (Instant::now(), 10);
    while began.elapsed() < Duration::from_secs(5) {
        feed(lab.port("in"), sent, sent + 10);
        sent += 10;
        penstock.wait_settled(sent as u64);
    }
    // A broker that comes again is logged in to again. It needs the realm itself.
    kafka.kill();
    feed(lab.port("in"), sent, sent + 10);
    realm.run();
    kafka.run();
    sent += 10;
    penstock.wait_settled(sent as u64);
    let consumed = kafka.consume("logs", sent);
    assert_eq!((consumed.len(), assert_all(&consumed, sent)), (sent, 0));
}

#[test]
fn tickets_of_somebody_who_called_kinit() {
    let lab = Lab::new();
    let (realm, kafka, keys) = match rig(&lab) {
        Ok(rig) => rig,
        Err(why) => return skip(why),
    };
    let tickets = realm.tickets("penstock", Path::new(&keys));
    let mut penstock = Penstock::configure(&lab, &into(&kafka, &properties("")))
        .env("KRB5_CONFIG", &realm.settings().display().to_string())
        .env("KRB5CCNAME", &tickets)
        .ready();
    feed(lab.port("in"), 0, 10);
    penstock.wait_settled(10);
    penstock.stop();

    // What it has written, a source reads with a login of its own.
    let reading = Lab::new();
    let (server, login) = (kafka.with_login(), shown("penstock", &keys));
    let mut source = start(
        &reading,
        &realm,
        &format!(
            "source s {{ kafka(bootstrap-servers(\"{server}\") topic(\"logs\" => \"-1\") read-old-records(yes) {login}); }};\n\
             destination d {{ file(\"{}\" template(\"$MSG\\n\")); }};\n\
             log {{ source(s); destination(d); }};",
            reading.path("out").display()
        ),
    );
    source.wait_settled(10);
    assert_eq!(std::fs::read_to_string(reading.path("out")).expect("a file").lines().count(), 10);
}

#[test]
fn what_is_missing_is_said() {
    let lab = Lab::new();
    let said = |properties: &str| {
        let config = config("127.0.0.1:9092", &format!("topic(logs) {properties}"));
        let file = lab.path("wrong.conf");
        std::fs::write(&file, format!("@version: 4.11\n{config}")).expect("a file");
        let output = run_command(&["check", &file.display().to_string()]);
        assert_eq!(output.code, Some(1), "{properties}");
        output.stderr + &output.stdout
    };
    let found = said(&properties("\"sasl.kerberos.principal\" => \"penstock\""));
    assert!(found.contains("Kerberos needs a name and its keys"), "{found}");
    let found = said(&shown("penstock", "/nowhere/keys"));
    assert!(found.contains("/nowhere/keys: No such file"), "{found}");
    let found = said(&properties("\"sasl.username\" => \"me\""));
    assert!(found.contains("GSSAPI shows no user"), "{found}");
    let found = said("config(\"sasl.kerberos.service.name\" => \"kafka\")");
    assert!(found.contains("change nothing with PLAIN"), "{found}");
}
