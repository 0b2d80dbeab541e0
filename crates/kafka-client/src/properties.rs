//! `config()`: properties by librdkafka's names. Each is obeyed, accepted with a remark on why it changes
//! nothing, or refused.

mod bearer;
mod consumer;
mod producer;
mod values;

pub use bearer::{Bearer, Unsecured};
use conf_schema::{Pair, Settings, Text};
pub use consumer::Reads;
use diag::{Diagnostic, Diagnostics};
use kafka::{Compression, IN_FLIGHT_MAX, Mechanism, Partitioner};
use std::path::PathBuf;
use std::time::Duration;
use values::{duration, word, yes_no};

/// What the properties come to.
#[derive(Clone, Debug)]
pub struct Properties {
    pub servers: Option<String>,
    pub client_id: String,
    pub acks: i16,
    pub numbered: Option<bool>,
    pub in_flight: usize,
    pub batch_bytes: usize,
    pub message_bytes: usize,
    pub batch_lines: usize,
    pub linger: Option<Duration>,
    pub compression: String,
    pub level: Option<i32>,
    pub partitioner: Partitioner,
    /// `transactional.id`.
    pub transaction: Option<String>,
    pub transaction_timeout: Duration,
    /// How long a broker may wait for its replicas.
    pub request_timeout: Duration,
    /// How long an answer may take.
    pub socket_timeout: Duration,
    pub reconnect: Duration,
    pub reconnect_max: Duration,
    pub refresh: Duration,
    pub makes_topics: bool,
    pub ipv6: bool,
    pub secure: bool,
    pub sasl: bool,
    pub mechanism: Option<Mechanism>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub bearer: Bearer,
    pub kerberos: KerberosNames,
    pub tls: tls::Options,
    /// `ssl.` properties were given.
    pub tls_given: bool,
    /// Those of a consumer.
    pub reads: Reads,
}

impl Default for Properties {
    fn default() -> Properties {
        Properties {
            servers: None,
            client_id: "penstock".to_owned(),
            acks: -1,
            numbered: None,
            in_flight: IN_FLIGHT_MAX,
            batch_bytes: 1_000_000,
            message_bytes: 1_000_000,
            batch_lines: 0,
            linger: None,
            compression: "none".to_owned(),
            level: None,
            partitioner: Partitioner::default(),
            transaction: None,
            transaction_timeout: Duration::from_secs(60),
            request_timeout: Duration::from_secs(30),
            socket_timeout: Duration::from_secs(60),
            reconnect: Duration::from_millis(100),
            reconnect_max: Duration::from_secs(10),
            refresh: Duration::from_secs(300),
            makes_topics: true,
            ipv6: false,
            secure: false,
            sasl: false,
            mechanism: None,
            user: None,
            password: None,
            bearer: Bearer::default(),
            kerberos: KerberosNames::default(),
            tls: tls::Options::default(),
            tls_given: false,
            reads: Reads::default(),
        }
    }
}

/// `sasl.kerberos.` properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KerberosNames {
    pub service: Option<String>,
    pub principal: Option<String>,
    pub keytab: Option<PathBuf>,
}

/// Who is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Producer,
    Consumer,
}

/// What a property does.
#[derive(Clone, Copy)]
enum Effect {
    /// It is obeyed, or said what it should be.
    Read(fn(&mut Properties, &str) -> Result<(), String>),
    /// It changes nothing: why.
    Moot(&'static str),
    /// It cannot be: what to do instead.
    Refused(&'static str),
}

use Effect::{Moot, Read, Refused};

/// By librdkafka's names, each with its older ones.
type Table = [(&'static [&'static str], Effect)];

const SYSTEM: &str = "the system's settings hold";
const LOGS: &str = "the log of penstock has it";
/// Longer than a program runs.
const NEVER: Duration = Duration::from_secs(100 * 365 * 86_400);
const VERSIONS: &str = "brokers say which versions they speak, since 0.10";
const BOOTSTRAP: &str = "the servers of bootstrap-servers() are asked again when no other is there";
const LIBRARY: &str = "it is about the insides of a library that is not there";
const TICKETS: &str = "tickets are fetched by the library, and anew before they end";

/// Of whoever speaks to brokers.
const COMMON: &Table = &[
    (&["bootstrap.servers", "metadata.broker.list"], Read(|p, v| done(&mut p.servers, Some(v.to_owned())))),
    (&["client.id"], Read(|p, v| done(&mut p.client_id, v.to_owned()))),
    (&["request.timeout.ms"], Read(|p, v| done(&mut p.request_timeout, duration(v, 1, 900_000)?))),
    (&["socket.timeout.ms"], Read(|p, v| done(&mut p.socket_timeout, duration(v, 10, 300_000)?))),
    (&["reconnect.backoff.ms"], Read(|p, v| done(&mut p.reconnect, duration(v, 0, 3_600_000)?))),
    (&["reconnect.backoff.max.ms"], Read(|p, v| done(&mut p.reconnect_max, duration(v, 0, 3_600_000)?))),
    (
        &["topic.metadata.refresh.interval.ms", "metadata.max.age.ms"],
        Read(|p, v| done(&mut p.refresh, if v == "-1" { NEVER } else { duration(v, 1, 86_400_000)? })),
    ),
    (&["broker.address.family"], Read(|p, v| done(&mut p.ipv6, word(v, &["any", "v4", "v6"])? == "v6"))),
    (&["security.protocol"], Read(security)),
    (&["sasl.mechanism", "sasl.mechanisms"], Read(mechanism)),
    (&["sasl.username"], Read(|p, v| done(&mut p.user, Some(v.to_owned())))),
    (&["sasl.password"], Read(|p, v| done(&mut p.password, Some(v.to_owned())))),
    (&["ssl.ca.location"], Read(|p, v| tls_option(p, |tls| done(&mut tls.ca_file, Some(v.into()))))),
    (
        &["ssl.certificate.location"],
        Read(|p, v| tls_option(p, |tls| done(&mut tls.cert_file, Some(v.into())))),
    ),
    (&["ssl.key.location"], Read(|p, v| tls_option(p, |tls| done(&mut tls.key_file, Some(v.into()))))),
    (
        &["ssl.keystore.location"],
        Read(|p, v| tls_option(p, |tls| done(&mut tls.pkcs12_file, Some(v.into())))),
    ),
    (
        &["enable.ssl.certificate.verification"],
        Read(|p, v| {
            let named = if yes_no(v)? { "required-trusted" } else { "optional-untrusted" };
            let verify = tls::PeerVerify::named(named).unwrap_or(tls::PeerVerify::REQUIRED_TRUSTED);
            tls_option(p, |tls| done(&mut tls.peer_verify, verify))
        }),
    ),
    (
        &["ssl.endpoint.identification.algorithm"],
        Read(|p, v| {
            let checks = word(v, &["none", "https"])? == "https";
            tls_option(p, |tls| done(&mut tls.check_name, checks))
        }),
    ),
    (&["statistics.interval.ms"], Moot("ask with `syslog-ng-ctl stats`")),
    (&["log_level"], Moot(LOGS)),
    (&["debug"], Moot(LOGS)),
    (&["log.connection.close"], Moot(LOGS)),
    (&["log.thread.name"], Moot(LOGS)),
    (&["socket.keepalive.enable"], Moot(SYSTEM)),
    (&["socket.nagle.disable"], Moot("it is always so")),
    (&["socket.send.buffer.bytes"], Moot(SYSTEM)),
    (&["socket.receive.buffer.bytes"], Moot(SYSTEM)),
    (&["socket.max.fails"], Moot("a connection that fails is made anew")),
    (&["connections.max.idle.ms"], Moot("a connection that the broker closes is made anew")),
    (&["api.version.request"], Moot("it is always so")),
    (&["topic.metadata.refresh.fast.interval.ms"], Moot("the cluster is asked again after a second")),
    (&["topic.metadata.refresh.sparse"], Moot("only topics in use are asked for")),
    (&["topic.metadata.refresh.fast.cnt"], Moot("the cluster is asked until it knows")),
    (&["topic.metadata.propagation.max.ms"], Moot("the cluster is asked until it knows")),
    (&["topic.blacklist"], Moot("only topics in use are asked for")),
    (&["api.version.request.timeout.ms"], Moot(VERSIONS)),
    (&["api.version.fallback.ms"], Moot(VERSIONS)),
    (&["broker.version.fallback"], Moot(VERSIONS)),
    (&["broker.address.ttl"], Moot("names are looked up for each connection")),
    (&["client.dns.lookup"], Moot("all addresses of a name are tried")),
    (&["socket.connection.setup.timeout.ms"], Moot("an attempt to connect takes 30 seconds at most")),
    (&["socket.blocking.max.ms"], Moot("nothing here waits for a socket")),
    (&["reconnect.backoff.jitter.ms"], Moot("pauses double from `reconnect.backoff.ms` on")),
    (&["metadata.recovery.strategy"], Moot(BOOTSTRAP)),
    (&["metadata.recovery.rebootstrap.trigger.ms"], Moot(BOOTSTRAP)),
    (&["enable.metrics.push"], Moot("ask with `syslog-ng-ctl stats`")),
    (&["enable.random.seed"], Moot(LIBRARY)),
    (&["internal.termination.signal"], Moot(LIBRARY)),
    (&["builtin.features"], Moot(LIBRARY)),
    (&["enabled_events"], Moot(LIBRARY)),
    (&["message.copy.max.bytes"], Moot(LIBRARY)),
    (&["log.queue"], Moot(LOGS)),
    (&["ssl.curves.list"], Refused("write `tls(ecdh-curve-list(\"...\"))`")),
    (&["ssl.sigalgs.list"], Refused("write `tls(sigalgs(\"...\"))`")),
    (&["ssl.providers"], Refused("there is no OpenSSL")),
    (&["ssl.engine.id", "ssl.engine.location"], Refused("there is no OpenSSL")),
    (&["ssl.ca.certificate.stores"], Moot("it is about Windows")),
    (
        &["ssl.key.password"],
        Refused("start, then `syslog-ng-ctl credentials add --id FILE`, so that it is in no file"),
    ),
    (&["ssl.keystore.password"], Refused("start, then `syslog-ng-ctl credentials add --id FILE`")),
    (&["ssl.crl.location"], Refused("write `tls(crl-dir(\"/folder\"))`")),
    (&["ssl.cipher.suites"], Refused("write `tls(cipher-suite(\"...\"))`")),
    (&["ssl.key.pem"], Refused("write it to a file, and `ssl.key.location`")),
    (&["ssl.certificate.pem"], Refused("write it to a file, and `ssl.certificate.location`")),
    (&["ssl.ca.pem"], Refused("write it to a file, and `ssl.ca.location`")),
    (&["sasl.kerberos.service.name"], Read(|p, v| done(&mut p.kerberos.service, Some(v.to_owned())))),
    (&["sasl.kerberos.principal"], Read(|p, v| done(&mut p.kerberos.principal, Some(v.to_owned())))),
    (&["sasl.kerberos.keytab"], Read(|p, v| done(&mut p.kerberos.keytab, Some(v.into())))),
    (&["sasl.kerberos.kinit.cmd"], Moot(TICKETS)),
    (&["sasl.kerberos.min.time.before.relogin"], Moot(TICKETS)),
    (&["plugin.library.paths"], Refused("there are no plugins")),
];

fn done<T>(place: &mut T, value: T) -> Result<(), String> {
    *place = value;
    Ok(())
}

fn tls_option(
    p: &mut Properties,
    set: impl FnOnce(&mut tls::Options) -> Result<(), String>,
) -> Result<(), String> {
    p.tls_given = true;
    set(&mut p.tls)
}

fn security(p: &mut Properties, value: &str) -> Result<(), String> {
    let value = word(value, &["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"])?;
    (p.secure, p.sasl) = (value.ends_with("ssl"), value.starts_with("sasl"));
    Ok(())
}

fn mechanism(p: &mut Properties, value: &str) -> Result<(), String> {
    let known = Mechanism::named(value);
    p.mechanism = Some(known.ok_or("PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI")?);
    Ok(())
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Producer => "producer",
            Role::Consumer => "consumer",
        }
    }

    /// The properties of this one, and those of the other.
    fn tables(self) -> [&'static Table; 2] {
        match self {
            Role::Producer => [producer::OWN, consumer::OWN],
            Role::Consumer => [consumer::OWN, producer::OWN],
        }
    }

    /// Reports what is wrong with the name of a property.
    fn unknown(self, key: &Text, diags: &mut Diagnostics) {
        let [own, other] = self.tables();
        let text = format!("config() has no property `{}` of a {}", key.text, self.name());
        let finding = Diagnostic::error("D0160", text, key.span);
        let names = own.iter().chain(COMMON).chain(bearer::OWN).flat_map(|(names, _)| names.iter().copied());
        diags.push(match find(other, &key.text) {
            Some(_) if self == Role::Producer => finding.help("it belongs to a source"),
            Some(_) => finding.help("it belongs to a destination"),
            None => finding.suggest(diag::nearest(&key.text, names)),
        });
    }
}

fn find<'a>(table: &'a Table, name: &str) -> Option<&'a Effect> {
    // The language takes `_` for `-`, and both stand for the points of librdkafka's names where these are
    // written without quotes.
    let plain = |text: &str| text.replace(['-', '_'], ".");
    let is_it = |names: &[&str]| names.iter().any(|known| plain(known) == plain(name));
    table.iter().find(|(names, _)| is_it(names)).map(|(_, effect)| effect)
}

fn apply(role: Role, properties: &mut Properties, pair: &Pair, diags: &mut Diagnostics) -> bool {
    let (name, value) = (pair.key.text.as_str(), pair.value.text.as_str());
    let [own, _] = role.tables();
    let common = || find(COMMON, name).or_else(|| find(bearer::OWN, name));
    let Some(effect) = find(own, name).or_else(common) else {
        role.unknown(&pair.key, diags);
        return false;
    };
    match effect {
        Read(read) => {
            let Err(wanted) = read(properties, value) else { return true };
            let text = format!("`{name}` cannot be `{value}`");
            let finding = Diagnostic::error("D0160", text, pair.value.span);
            diags.push(finding.help(format!("it is {wanted}")));
            false
        }
        Moot(why) => {
            diags.push(Diagnostic::remark(
                "D0161",
                format!("`{name}` changes nothing: {why}"),
                pair.key.span,
            ));
            true
        }
        Refused(instead) => {
            let finding = Diagnostic::error("D0160", format!("`{name}` is not supported"), pair.key.span);
            diags.push(finding.help(*instead));
            false
        }
    }
}

impl Properties {
    /// Reads `config()`; `None` after an error was reported.
    pub fn read(role: Role, s: &Settings, diags: &mut Diagnostics) -> Option<Properties> {
        let mut properties = Properties::default();
        let mut good = true;
        for pair in s.pairs("config") {
            good &= apply(role, &mut properties, pair, diags);
        }
        good.then_some(properties)
    }

    pub fn compression(&self) -> Compression {
        let level = |least: i32, most: i32, preset: i32| match self.level {
            Some(level) if level >= least => level.min(most),
            _ => preset,
        };
        match self.compression.as_str() {
            "gzip" => Compression::Gzip(level(1, 9, 6) as u32),
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd(level(1, 22, 3)),
            _ => Compression::None,
        }
    }

    /// Batches carry numbers: with acks=all, unless that is switched off.
    pub fn is_numbered(&self) -> bool {
        self.acks == -1 && self.numbered != Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for role in [Role::Producer, Role::Consumer] {
            let all = role.tables()[0].iter().chain(COMMON).chain(bearer::OWN);
            let mut names: Vec<&str> = all.flat_map(|(names, _)| names.iter().copied()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{role:?}");
        }
    }
}
