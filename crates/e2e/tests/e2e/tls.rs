//! Encrypted connections through the real binary: both ways, with bad peers, and with the distribution's
//! syslog-ng.

use crate::interop::there_and_back;
use crate::messages::{HEAD, assert_complete, message, send};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use testkit::{Lab, Penstock, Sender, peers, skip, wait_until};

const COUNT: usize = 500;

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new(lab: &Lab, name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        std::fs::write(lab.path(&format!("{name}.pem")), certificate.pem()).expect("a file");
        Authority { issuer: Issuer::new(params, key) }
    }

    /// `NAME.pem` and `NAME.key` in the lab, for one host.
    pub fn identity(&self, lab: &Lab, name: &str, host: &str, change: impl FnOnce(&mut CertificateParams)) {
        let mut params = CertificateParams::new(vec![host.to_owned()]).expect("parameters");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        std::fs::write(lab.path(&format!("{name}.pem")), certificate.pem()).expect("a file");
        std::fs::write(lab.path(&format!("{name}.key")), key.serialize_pem()).expect("a file");
    }
}

/// An authority `ca`, a server for 127.0.0.1 and a client it has signed.
pub fn prepared(lab: &Lab) -> Authority {
    let authority = Authority::new(lab, "ca");
    authority.identity(lab, "server", "127.0.0.1", |_| {});
    authority.identity(lab, "client", "client.example.com", |_| {});
    authority
}

/// The block of one who shows a certificate and trusts `ca`.
pub fn block_of(name: &str) -> String {
    format!("tls(key-file(\"%dir%/{name}.key\") cert-file(\"%dir%/{name}.pem\") ca-file(\"%dir%/ca.pem\"))")
}

pub fn own_and(statements: &str) -> String {
    format!("{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n{statements}")
}

#[track_caller]
fn relayed(destination: &str, source: &str, transport: &str) {
    let lab = Lab::new();
    prepared(&lab);
    let (client, server) = (block_of("client"), block_of("server"));
    let config = own_and(&format!(
        "source peer {{ {source} transport(\"tls\") {server}); }};\n\
         destination away {{ {destination} transport(\"tls\") {client}); }};\n\
         destination d {{ file(\"%dir%/out\"); file(\"%dir%/who\" template(\"${{TRANSPORT}} ${{.tls.x509_cn}}\\n\")); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n\
         log {{ source(peer); destination(d); flags(flow-control); }};\n"
    ));
    let mut penstock = Penstock::start(&lab, &config);
    there_and_back(&lab, &mut penstock);
    assert_eq!(lab.lines("who")[0], format!("{transport} client"));
    penstock.wait_log("TLS session established");
    penstock.stop();
}

#[test]
fn lines_with_mutual_authentication() {
    relayed("network(127.0.0.1 port(%port:tls%)", "network(ip(127.0.0.1) port(%tcp:tls%)", "rfc3164+tls");
}

#[test]
fn frames_with_mutual_authentication() {
    relayed("syslog(127.0.0.1 port(%port:tls%)", "syslog(ip(127.0.0.1) port(%tcp:tls%)", "rfc5425");
}

#[test]
fn bad_peers_are_refused_with_the_reason_while_others_go_on() {
    let lab = Lab::new();
    let authority = prepared(&lab);
    authority.identity(&lab, "expired", "x", |p| p.not_after = date_time_ymd(2001, 1, 1));
    authority.identity(&lab, "elsewhere", "other.example.com", |_| {});
    Authority::new(&lab, "strangers").identity(&lab, "stranger", "x", |_| {});
    let to = |name: &str, port: &str, tls: &str| {
        let way = format!("127.0.0.1 port(%port:{port}%) persist-name(\"{name}\")");
        (name.to_owned(), format!("network({way} transport(\"tls\") {tls});"))
    };
    let bad = [
        to("expired", "tls", &block_of("expired")),
        to("stranger", "tls", &block_of("stranger")),
        to("nobody", "tls", "tls(ca-file(\"%dir%/ca.pem\"))"),
        to("wrong", "elsewhere", &block_of("client")),
    ];
    let statements: String = bad
        .iter()
        .map(|(name, driver)| {
            format!("destination {name} {{ {driver} }};\nlog {{ source(own); destination({name}); }};\n")
        })
        .collect();
    let config = own_and(&format!(
        "source peer {{ network(ip(127.0.0.1) port(%tcp:tls%) transport(\"tls\") {});\n\
         network(ip(127.0.0.1) port(%tcp:elsewhere%) transport(\"tls\") idle-timeout(1) {}); }};\n\
         destination good {{ {} }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(own); destination(good); flags(flow-control); }};\n\
         log {{ source(peer); destination(d); flags(flow-control); }};\n{statements}",
        block_of("server"),
        block_of("elsewhere"),
        to("good", "tls", &block_of("client")).1,
    ));
    let mut penstock = Penstock::start(&lab, &config);
    let mut plain = Sender::tcp(lab.port("tls"));
    plain.line(&message(0, 0));
    plain.wait_closed();
    let mut stalled = Sender::tcp(lab.port("elsewhere"));
    stalled.wait_closed();
    send(&lab, 0, COUNT);
    for reason in [
        "what the peer sends is not TLS",
        "it was not over in time",
        "the certificate of the peer is refused: it has expired",
        "the certificate of the peer is refused: no authority of ca-file() or ca-dir() has signed it",
        "the peer has shown no certificate, and peer-verify() requires one",
        "it belongs to another host",
        // And what the other side learns of it.
        "the peer says: our certificate has expired",
        "the peer says: our certificate is signed by an authority it does not know",
        "the peer says: it wants a certificate",
    ] {
        penstock.wait_log(reason);
    }
    wait_until("the good one's messages", || lab.lines("out").len() >= COUNT);
    assert_complete(&lab.lines("out"), 1, COUNT);
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    for (name, _) in bad {
        assert_eq!(ledger.destination(&name).delivered, 0, "{name}");
    }
    penstock.stop();
}

#[test]
fn renewed_certificates_serve_the_next_connection_and_leave_the_others() {
    let lab = Lab::new();
    let authority = prepared(&lab);
    let config = |more: &str| {
        own_and(&format!(
            "source peer {{ network(ip(127.0.0.1) port(%tcp:tls%) transport(\"tls\") {}); }};\n\
             destination away {{ network(127.0.0.1 port(%port:tls%) transport(\"tls\") {}); }};\n\
             destination d {{ file(\"%dir%/out\"); }};\n{more}\
             log {{ source(own); destination(away); flags(flow-control); }};\n\
             log {{ source(peer); destination(d); flags(flow-control); }};\n",
            block_of("server"),
            block_of("client"),
        ))
    };
    let mut penstock = Penstock::start(&lab, &config(""));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    wait_until("the first message", || lab.lines("out").len() == 1);
    // A certificate for another host: who connects now will notice, who is connected will not.
    authority.identity(&lab, "server", "other.example.com", |_| {});
    let late = format!(
        "destination late {{ network(127.0.0.1 port(%port:tls%) persist-name(\"late\") transport(\"tls\") {}); }};\n\
         log {{ source(own); destination(late); }};\n",
        block_of("client")
    );
    penstock.reload_with(&lab, &config(&late));
    sender.line(&message(0, 1));
    wait_until("the second message", || lab.lines("out").len() == 2);
    penstock.wait_log("it belongs to another host");
    penstock.stop();
}

#[track_caller]
fn syslog_ng_and_back(driver: &str) {
    let Some(program) = peers::syslog_ng() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    prepared(&lab);
    let (client, server) = (block_of("client"), block_of("server"));
    let source =
        |name: &str| format!("{driver}(ip(127.0.0.1) port(%tcp:{name}%) transport(\"tls\") {server});");
    let destination =
        |name: &str| format!("{driver}(\"127.0.0.1\" port(%port:{name}%) transport(\"tls\") {client});");
    let config = own_and(&format!(
        "source peer {{ {} }};\ndestination away {{ {} }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n\
         log {{ source(peer); destination(d); flags(flow-control); }};\n",
        source("back"),
        destination("peer"),
    ));
    let mut penstock = Penstock::start(&lab, &config);
    let theirs = format!(
        "@version: 3.38\noptions {{ keep-hostname(yes); use-dns(no); time-reopen(1); }};\n\
         source s {{ {} }};\ndestination d {{ {} }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n",
        source("peer"),
        destination("back"),
    );
    let _peer = peers::start_syslog_ng(&lab, &program, &theirs, &[]);
    there_and_back(&lab, &mut penstock);
    penstock.stop();
}

#[test]
fn syslog_ng_on_lines() {
    syslog_ng_and_back("network");
}

#[test]
fn syslog_ng_in_the_new_format() {
    syslog_ng_and_back("syslog");
}
