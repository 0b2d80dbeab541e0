//! `cloud-auth()` of drivers that speak gRPC, with servers on others' libraries that look at the tokens.

use super::{oauth2, tokens};
use crate::answered::{self, assert_in_order, feed};
use crate::tls::prepared;
use testkit::otlp::{MISSING, NO_BIGQUERY, Otlp};
use testkit::pubsub::{self, PubSub};
use testkit::{Lab, Penstock, run_command, skip};

fn otlp(server: &Otlp, options: &str) -> String {
    let port = server.port();
    answered::config(&format!("opentelemetry(url(\"127.0.0.1:{port}\") time-reopen(1) {options})"))
}

#[test]
fn a_token_that_is_not_believed_any_more_is_fetched_anew() {
    let lab = Lab::new();
    let Some(mut server) = Otlp::start(&lab, &["--token", "Bearer token-1"]) else { return skip(MISSING) };
    let tokens = tokens(0, 3600);
    let options = format!("auth(insecure()) workers(2) batch-lines(10) {}", oauth2(tokens.port(), ""));
    let mut penstock = Penstock::start(&lab, &otlp(&server, &options));
    feed(lab.port("in"), 0, 200);
    penstock.wait_settled(200).assert_nothing_lost();
    assert_eq!(tokens.requests().len(), 1, "both workers have the same one");
    server.kill();
    server.change("--token", "Bearer token-2");
    server.run();
    feed(lab.port("in"), 200, 400);
    penstock.wait_settled(400).assert_nothing_lost();
    assert_eq!((tokens.requests().len(), server.bodies().len()), (2, 400));
    assert!(!penstock.log().contains("s+cret") && !penstock.log().contains("token-2"));
}

#[test]
fn tokens_of_the_machine_for_rows_of_bigquery() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &["--token", "Bearer token-1"]) else {
        return skip(NO_BIGQUERY);
    };
    let machine = tokens(0, 3600);
    let config = answered::config(&format!(
        "bigquery(url(\"127.0.0.1:{}\") project(\"p\") dataset(\"d\") table(\"t\") time-reopen(1) auth(insecure()) \
         schema(\"message\" => \"$MSG\") \
         cloud-auth(gcp(user-managed-service-account(metadata-url(\"127.0.0.1:{}\")))))",
        server.port(),
        machine.port()
    ));
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_eq!(server.records().len(), 100);
    let asked = machine.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/computeMetadata/v1/instance/service-accounts/default/token");
}

/// A batch waits while there is no token, and nothing of it goes out.
#[test]
fn without_a_token_nothing_is_called() {
    let lab = Lab::new();
    let Some(server) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let port = testkit::free_port();
    let options = format!("auth(insecure()) {}", oauth2(port, ""));
    let mut penstock = Penstock::start(&lab, &otlp(&server, &options));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("no token: 127.0.0.1");
    assert_eq!((server.bodies().len(), penstock.ledger().dropped()), (0, 0));
    let _tokens = tokens(port, 3600);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&server.bodies(), 100);
}

/// Google's own library looks at tokens for the service that is called, or for what audience() says.
#[test]
fn tokens_that_an_account_signs_are_for_the_service_that_is_called() {
    for (audience, options) in [
        ("https://logs.example.com/opentelemetry.proto.collector.logs.v1.LogsService", ""),
        ("mine", "audience(\"mine\")"),
    ] {
        let lab = Lab::new();
        prepared(&lab);
        let path = |name: &str| lab.path(name).display().to_string();
        let (cert, key, account) = (path("server.pem"), path("server.key"), path("account.json"));
        let own = ["--cert", &cert, "--key", &key, "--account", &account, "--audience", audience];
        let Some(server) = Otlp::start(&lab, &own) else { return skip(MISSING) };
        let options = format!(
            "cloud-auth(gcp(service-account(key(\"{account}\") {options}))) auth(tls(ca-file(\"%dir%/ca.pem\"))) \
             channel-args(\"grpc.default_authority\" => \"logs.example.com\")"
        );
        let mut penstock = Penstock::start(&lab, &otlp(&server, &options));
        feed(lab.port("in"), 0, 100);
        penstock.wait_settled(100).assert_nothing_lost();
        assert_in_order(&server.bodies(), 100);
    }
}

/// The key that the environment names, in a service that wants to know who asks.
#[test]
fn default_credentials_are_those_of_the_environment() {
    let lab = Lab::new();
    prepared(&lab);
    let path = |name: &str| lab.path(name).display().to_string();
    let (cert, key, account) = (path("server.pem"), path("server.key"), path("account.json"));
    let audience = "https://logs.example.com/opentelemetry.proto.collector.logs.v1.LogsService";
    let own = ["--cert", &cert, "--key", &key, "--account", &account, "--audience", audience];
    let Some(server) = Otlp::start(&lab, &own) else { return skip(MISSING) };
    let options = "auth(adc() tls(ca-file(\"%dir%/ca.pem\"))) \
                   channel-args(\"grpc.default_authority\" => \"logs.example.com\")";
    let start = Penstock::configure(&lab, &otlp(&server, options));
    let mut penstock = start.env("GOOGLE_APPLICATION_CREDENTIALS", &account).ready();
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&server.bodies(), 100);
}

/// Where nothing is named, the machine is asked; the connection is encrypted all the same.
#[test]
fn default_credentials_are_those_of_the_machine() {
    let lab = Lab::new();
    prepared(&lab);
    let path = |name: &str| lab.path(name).display().to_string();
    let own = ["--cert", &path("server.pem"), "--key", &path("server.key"), "--token", "Bearer token-1"];
    let Some(server) = Otlp::start(&lab, &own) else { return skip(MISSING) };
    let machine = tokens(0, 3600);
    let start = Penstock::configure(&lab, &otlp(&server, "auth(adc() tls(ca-file(\"%dir%/ca.pem\")))"));
    let start = start.env("GCE_METADATA_HOST", &format!("127.0.0.1:{}", machine.port()));
    let mut penstock = start.env("HOME", &path("")).env("GOOGLE_APPLICATION_CREDENTIALS", "").ready();
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_eq!(machine.requests()[0].path, "/computeMetadata/v1/instance/service-accounts/default/token");
}

/// No token goes over a connection that others can read, unless somebody wants that.
#[test]
fn connections_with_tokens_are_encrypted() {
    let lab = Lab::new();
    let Some(server) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let tokens = tokens(0, 3600);
    let mut penstock = Penstock::start(&lab, &otlp(&server, &oauth2(tokens.port(), "")));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("what the peer sends is not TLS");
    assert!(server.bodies().is_empty());
    let plain = format!("auth(insecure()) {}", oauth2(tokens.port(), ""));
    penstock.reload_with(&lab, &otlp(&server, &plain));
    penstock.wait_settled(10).assert_nothing_lost();
}

#[test]
fn a_source_of_pubsub_shows_tokens_too() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(pubsub::MISSING) };
    let machine = tokens(0, 3600);
    let config = format!(
        "{}source p {{ google-pubsub(service-endpoint(\"127.0.0.1:{}\") project(\"p\") subscription(\"s\") time-reopen(1) \
         flags(no-parse) auth(insecure()) \
         cloud-auth(gcp(user-managed-service-account(metadata-url(\"127.0.0.1:{}\"))))); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
         log {{ source(p); destination(d); flags(flow-control); }};\n",
        crate::messages::HEAD,
        server.port(),
        machine.port()
    );
    server.publish_texts(&["value 0".to_owned(), "value 1".to_owned()]);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(2).assert_nothing_lost();
    server.wait_acknowledged(2);
    // One for both halves.
    assert_eq!(machine.requests().len(), 1);
}

#[test]
fn what_is_wrong_with_tokens_of_calls_is_said() {
    let lab = Lab::new();
    let account = "service-account(key(\"/nowhere\"))";
    for (options, words) in [
        (format!("cloud-auth(gcp({account}))"), "/nowhere: No such file"),
        ("cloud-auth(gcp())".to_owned(), "gcp() says one account"),
        ("auth(adc(service-account-key(\"/nowhere\")))".to_owned(), "/nowhere: No such file"),
        (format!("auth(adc()) {}", oauth2(9, "")), "two ways to get tokens"),
        (format!("auth(insecure()) url(\"https://127.0.0.1:9\") {}", oauth2(9, "")), "https:// is encrypted"),
    ] {
        let config = answered::config(&format!("opentelemetry({options})"));
        let (path, _) = lab.write_config("wrong.conf", &config);
        let outcome = run_command(&["check", path.to_str().expect("a path")]);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.code != Some(0) && said.contains(words), "{options}: {said}");
    }
}
