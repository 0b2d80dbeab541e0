//! OAUTHBEARER with a real broker: tokens that nobody signs, which it reads itself, and tokens of a server
//! that it believes by its keys.

use super::{assert_all, config, feed};
use crate::messages::HEAD;
use rcgen::{KeyPair, SigningKey};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::kafka::{Kafka, MISSING};
use testkit::{HttpServer, Lab, Penstock, Reply, Request, run_command, skip, wait_until};

const LISTENER: &str = "listener.name.sasl_plaintext";
const MODULE: &str = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required";

/// A listener with OAUTHBEARER, on which logins end. `options` are those of whoever looks at tokens.
fn listener(options: &str, more: &str) -> String {
    format!(
        "sasl.enabled.mechanisms=OAUTHBEARER,PLAIN\n{LISTENER}.oauthbearer.sasl.jaas.config={MODULE} {options};\n\
         {LISTENER}.oauthbearer.connections.max.reauth.ms=3000\n{more}"
    )
}

fn properties(more: &str) -> String {
    format!(
        "config(\"security.protocol\" => \"sasl_plaintext\" \"sasl.mechanism\" => \"OAUTHBEARER\" \
         \"topic.metadata.refresh.interval.ms\" => \"500\" \"reconnect.backoff.max.ms\" => \"500\" {more})"
    )
}

fn unsecured(scope: &str) -> String {
    properties(&format!(
        "\"enable.sasl.oauthbearer.unsecure.jwt\" => \"true\" \
         \"sasl.oauthbearer.config\" => \"principal=penstock scope={scope} lifeSeconds=60\""
    ))
}

#[test]
fn tokens_that_nobody_signs() {
    let lab = Lab::new();
    // The name of the broker is for a login of its own, which it never makes.
    let wanted = "unsecuredLoginStringClaim_sub=\"broker\" unsecuredValidatorRequiredScope=\"logs\"";
    let Some(kafka) = Kafka::start(&lab, &listener(wanted, ""), None) else { return skip(MISSING) };
    kafka.create("logs", 1, &[]);
    let into = |scope: &str| {
        config(&kafka.with_login(), &format!("topic(logs) time-reopen(1) {}", unsecured(scope)))
    };
    // A token without what the broker wants: held, said, nothing dropped.
    let mut penstock = Penstock::start(&lab, &into("other"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("SASL_AUTHENTICATION_FAILED");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    penstock.reload_with(&lab, &into("other,logs"));
    penstock.wait_settled(10);
    let consumed = kafka.consume("logs", 10);
    assert_eq!((consumed.len(), assert_all(&consumed, 10)), (10, 0));
}

/// Keys of a server of tokens, of which brokers know the first.
struct Issuer {
    keys: [KeyPair; 2],
    /// Which of them signs.
    signs: AtomicUsize,
    port: AtomicUsize,
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let n = three.iter().fold(0u32, |n, byte| n << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let letters = (0..=three.len()).map(|at| LETTERS[(n >> (18 - 6 * at) & 63) as usize]);
        out.extend(letters.map(char::from));
    }
    out
}

/// The two numbers of a signature, each in 32 bytes: RFC 7518 section 3.4.
fn numbers(der: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = &der[2..];
    for _ in 0..2 {
        let (number, after) = rest[2..].split_at(usize::from(rest[1]));
        let number = &number[number.len().saturating_sub(32)..];
        out.extend(std::iter::repeat_n(0, 32 - number.len()).chain(number.iter().copied()));
        rest = after;
    }
    out
}

impl Issuer {
    fn answer(&self, request: &Request) -> Reply {
        match request.path.as_str() {
            "/keys" => Reply::new(200).body(self.known().to_string()),
            _ => Reply::new(200).body(self.token().to_string()),
        }
    }

    fn known(&self) -> serde_json::Value {
        let point = self.keys[0].public_key_raw();
        let (x, y) = (base64(&point[1..33]), base64(&point[33..]));
        json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig", "x": x, "y": y}]})
    }

    /// Good for half a minute.
    fn token(&self) -> serde_json::Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
        let port = self.port.load(Ordering::SeqCst);
        let claims = json!({"sub": "penstock", "iss": format!("http://127.0.0.1:{port}"), "aud": "kafka",
            "iat": now, "exp": now + 30, "scope": "logs"});
        let head = json!({"alg": "ES256", "typ": "JWT", "kid": "one"});
        let signed =
            format!("{}.{}", base64(head.to_string().as_bytes()), base64(claims.to_string().as_bytes()));
        let signature = self.keys[self.signs.load(Ordering::SeqCst)].sign(signed.as_bytes()).expect("signed");
        let token = format!("{signed}.{}", base64(&numbers(&signature)));
        json!({"access_token": token, "token_type": "Bearer", "expires_in": 4})
    }
}

#[test]
fn tokens_of_a_server_are_fetched_and_shown_again_before_a_login_ends() {
    let lab = Lab::new();
    let key = || KeyPair::generate().expect("a key");
    let issuer = Issuer { keys: [key(), key()], signs: AtomicUsize::new(1), port: AtomicUsize::new(0) };
    let issuer = Arc::new(issuer);
    let signing = Arc::clone(&issuer);
    let server = HttpServer::start(0, move |request| signing.answer(request));
    issuer.port.store(server.port().into(), Ordering::SeqCst);
    let keys = format!("http://127.0.0.1:{}/keys", server.port());
    let more = format!(
        "{LISTENER}.oauthbearer.sasl.server.callback.handler.class=\
         org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler\n\
         sasl.oauthbearer.jwks.endpoint.url={keys}\nsasl.oauthbearer.expected.audience=kafka\n"
    );
    let jvm = format!("org.apache.kafka.sasl.oauthbearer.allowed.urls={keys}");
    let Some(kafka) = Kafka::start_with(&lab, &listener("", &more), None, &[&jvm]) else {
        return skip(MISSING);
    };
    kafka.create("logs", 1, &[]);
    let oidc = properties(&format!(
        "\"sasl.oauthbearer.method\" => \"oidc\" \"sasl.oauthbearer.client.id\" => \"me\" \
         \"sasl.oauthbearer.client.secret\" => \"hidden\" \"sasl.oauthbearer.scope\" => \"logs all\" \
         \"sasl.oauthbearer.token.endpoint.url\" => \"http://127.0.0.1:{}/token\"",
        server.port()
    ));
    let text = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ kafka(bootstrap-servers(\"{broker}\") message(\"$MSG\") topic(logs) time-reopen(1) {oidc}); }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n\
         source back {{ kafka(bootstrap-servers(\"{broker}\") time-reopen(1) flags(no-parse)\n\
         topic(\"logs\" => \"0\") read-old-records(yes) {oidc}); }};\n\
         destination f {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
         log {{ source(back); destination(f); flags(flow-control); }};\n",
        broker = kafka.with_login()
    );
    let mut penstock = Penstock::start(&lab, &text);
    feed(lab.port("in"), 0, 10);
    // Nobody knows who has signed it.
    penstock.wait_log("SASL_AUTHENTICATION_FAILED");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    issuer.signs.store(0, Ordering::SeqCst);
    wait_until("what was held", || lab.lines("out").len() >= 10);

    // Each login is good for three seconds, each token for two: both connections log in again, and go on.
    let asked = || server.requests().iter().filter(|request| request.path == "/token").count();
    let connected = |penstock: &Penstock| penstock.log().matches("Kafka broker connected").count();
    let (before, connections) = (asked(), connected(&penstock));
    let mut sent = 10;
    wait_until("more tokens", || {
        feed(lab.port("in"), sent, sent + 10);
        sent += 10;
        let all = sent;
        wait_until("what was sent", || lab.lines("out").len() >= all);
        asked() >= before + 8
    });
    assert_eq!(connected(&penstock), connections, "{}", penstock.log());
    let question = server.requests().into_iter().find(|request| request.path == "/token");
    let question = question.expect("asked for a token");
    assert_eq!(question.header("authorization"), "Basic bWU6aGlkZGVu");
    assert_eq!(question.text(), "grant_type=client_credentials&scope=logs%20all");
    let consumed = kafka.consume("logs", sent);
    assert_eq!((consumed.len(), assert_all(&consumed, sent)), (sent, 0));
    assert_eq!(penstock.ledger().dropped(), 0);
    assert!(!penstock.log().contains("hidden"), "a secret is in the log");

    // No server of tokens: held, and said.
    drop(server);
    drop(penstock);
    let penstock = Penstock::start(&lab, &text);
    feed(lab.port("in"), sent, sent + 10);
    wait_until("a word about it", || penstock.log().contains("no token: 127.0.0.1"));
    assert_eq!((penstock.ledger().waiting(), penstock.ledger().dropped()), (10, 0));
}

#[test]
fn what_is_wrong_about_tokens_is_said_by_name() {
    let check = |more: &str, words: &[&str]| {
        let lab = Lab::new();
        let options = format!("topic(logs) config(\"security.protocol\" => \"sasl_plaintext\" {more})");
        let (path, _) = lab.write_config("wrong.conf", &config("127.0.0.1:9092", &options));
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{more}");
        let said = outcome.stdout + &outcome.stderr;
        words.iter().for_each(|word| assert!(said.contains(word), "{more}: {word}\n{said}"));
    };
    let bearer = |more: &str| format!("\"sasl.mechanism\" => \"OAUTHBEARER\" {more}");
    let config = "\"sasl.oauthbearer.config\" => \"principal=a\"";
    check(&bearer(""), &["D0162", "no token to show"]);
    check(&bearer(config), &["D0162", "enable.sasl.oauthbearer.unsecure.jwt"]);
    check(&bearer("\"sasl.oauthbearer.config\" => \"user=a\""), &["D0160", "principalClaimName"]);
    check(&bearer("\"sasl.oauthbearer.client.id\" => \"a\""), &["D0162", "sasl.oauthbearer.method"]);
    check(&bearer("\"sasl.oauthbearer.method\" => \"oidc\""), &["D0162", "sasl.oauthbearer.client.secret"]);
    check(&bearer("\"sasl.username\" => \"a\""), &["D0162", "no password"]);
    check(&bearer("\"sasl.oauthbearer.extensions\" => \"auth=a\""), &["D0160", "not `auth`"]);
    check(
        &bearer("\"sasl.oauthbearer.token.endpoint.url\" => \"ftp://a\""),
        &["D0160", "neither http nor https"],
    );
    check(&bearer("\"sasl.oauthbearer.assertion.file\" => \"a\""), &["D0160", "client.secret"]);
    check(config, &["D0162", "change nothing with PLAIN"]);
}
