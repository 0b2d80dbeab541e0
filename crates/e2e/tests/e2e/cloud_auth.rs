//! `cloud-auth()` and `azure-auth-header()`: tokens of servers that write down what they were asked, tokens
//! that Google's own library looks at, signatures that Python makes too.

mod calls;

use crate::answered::feed;
use crate::messages::HEAD;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use testkit::otlp::{MISSING, python};
use testkit::{HttpServer, Lab, Penstock, Reply, Request, free_port, root, run_command, skip, wait_until};

fn config(destination: &str) -> String {
    format!(
        "{HEAD}@include \"scl.conf\"\nsource own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ {destination}; }};\nlog {{ source(own); destination(k); flags(flow-control); }};\n"
    )
}

fn http(port: u16, options: &str) -> String {
    config(&format!("http(url(\"http://127.0.0.1:{port}/in\") body(\"$MSG\") time-reopen(1) {options})"))
}

fn oauth2(port: u16, options: &str) -> String {
    format!(
        "cloud-auth(oauth2(client-id(\"me & you\") client-secret(\"s+cret\") \
         token-url(\"http://127.0.0.1:{port}/token\") {options}))"
    )
}

/// The `nth` token, good for so many seconds.
fn token(nth: usize, seconds: usize) -> Reply {
    let text = json!({"access_token": format!("token-{nth}"), "token_type": "Bearer", "expires_in": seconds});
    Reply::new(200).body(text.to_string())
}

/// A server of tokens, which are good for so long.
fn tokens(port: u16, seconds: usize) -> HttpServer {
    let count = AtomicUsize::new(0);
    HttpServer::start(port, move |_| token(count.fetch_add(1, Ordering::SeqCst) + 1, seconds))
}

/// Lines that were taken.
fn lines(server: &HttpServer) -> Vec<String> {
    let requests = server.requests().into_iter().zip(server.statuses());
    requests.filter(|(_, status)| *status == 200).flat_map(|(request, _)| request.lines()).collect()
}

#[test]
fn a_token_is_fetched_once_and_again_when_it_is_refused() {
    let lab = Lab::new();
    let tokens = tokens(0, 3600);
    let is_revoked = Arc::new(AtomicBool::new(false));
    let revoked = Arc::clone(&is_revoked);
    let server = HttpServer::start(0, move |request| {
        let good = if revoked.load(Ordering::SeqCst) { "Bearer token-2" } else { "Bearer token-1" };
        Reply::new(if request.header("authorization") == good { 200 } else { 401 })
    });
    let options =
        "scope(\"a b\") resource(\"https://r\") authorization-details(\"[{}]\") auth-method(post_body)";
    let options = format!("batch-lines(10) workers(2) {}", oauth2(tokens.port(), options));
    let mut penstock = Penstock::start(&lab, &http(server.port(), &options));
    feed(lab.port("in"), 0, 200);
    penstock.wait_settled(200).assert_nothing_lost();
    is_revoked.store(true, Ordering::SeqCst);
    feed(lab.port("in"), 200, 400);
    penstock.wait_settled(400).assert_nothing_lost();
    assert_eq!(lines(&server).len(), 400);
    // One for both workers, and one more for those that were refused.
    let asked = tokens.requests();
    assert_eq!(asked.len(), 2);
    let form = "grant_type=client_credentials&client_id=me%20%26%20you&client_secret=s%2Bcret&scope=a%20b\
                &resource=https%3A%2F%2Fr&authorization_details=%5B%7B%7D%5D";
    assert_eq!(
        (asked[0].method.as_str(), asked[0].path.as_str(), asked[0].text()),
        ("POST", "/token", form.into())
    );
    assert_eq!(asked[0].header("content-type"), "application/x-www-form-urlencoded");
    assert!(server.statuses().iter().filter(|status| **status == 401).count() <= 2);
}

#[test]
fn a_token_is_renewed_before_its_end() {
    let lab = Lab::new();
    let tokens = tokens(0, 4);
    let server = HttpServer::start(0, |_| Reply::new(200));
    let options = oauth2(tokens.port(), "refresh-offset(3)");
    let mut penstock = Penstock::start(&lab, &http(server.port(), &options));
    let mut sent = 0;
    // Half of the time of a token is the earliest.
    wait_until("another token", || {
        feed(lab.port("in"), sent, sent + 1);
        sent += 1;
        penstock.wait_settled(sent as u64);
        tokens.requests().len() >= 2
    });
    let shown: Vec<String> =
        server.requests().iter().map(|request| request.header("authorization").to_owned()).collect();
    assert_eq!(
        (shown[0].as_str(), shown.last().map(String::as_str)),
        ("Bearer token-1", Some("Bearer token-2"))
    );
    // Name and secret are encoded before they are put together: RFC 6749 section 2.3.1.
    assert_eq!(tokens.requests()[0].header("authorization"), "Basic bWUlMjAlMjYlMjB5b3U6cyUyQmNyZXQ=");
    assert_eq!(tokens.requests()[0].text(), "grant_type=client_credentials");
}

#[test]
fn while_there_is_no_token_messages_wait() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let port = free_port();
    let mut penstock = Penstock::start(&lab, &http(server.port(), &oauth2(port, "")));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("no token: 127.0.0.1");
    let refusing = HttpServer::start(port, |_| Reply::new(401).body("{\"error\":\"invalid_client\"}"));
    penstock.wait_log("invalid_client");
    assert_eq!((penstock.ledger().dropped(), server.requests().len()), (0, 0));
    drop(refusing);
    let _tokens = tokens(port, 3600);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_eq!(lines(&server).len(), 100);
    assert!(!penstock.log().contains("s+cret") && !penstock.log().contains("token-1"));
}

/// Google's library on a token: its claims.
fn claims(account: &Path, request: &Request, audience: Option<&str>) -> Value {
    let mut command = Command::new(python().expect("it was there"));
    command.arg(root().join("scripts/http/jwt.py")).arg("read").arg(account).args(audience);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python");
    let token = request.header("authorization").strip_prefix("Bearer ").expect("a token").to_owned();
    child.stdin.take().expect("piped").write_all(token.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("an answer");
    assert!(output.status.success(), "Google's library takes the token");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn account(lab: &Lab) -> Option<std::path::PathBuf> {
    let path = lab.path("account.json");
    let made =
        Command::new(python()?).arg(root().join("scripts/http/jwt.py")).arg("make").arg(&path).status();
    made.ok()?.success().then_some(path)
}

#[test]
fn pubsub_gets_messages_with_tokens_that_googles_library_takes() {
    let lab = Lab::new();
    let Some(account) = account(&lab) else { return skip(MISSING) };
    let server = HttpServer::start(0, |request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        let ids = body["messages"].as_array().into_iter().flatten().map(|message| &message["data"]);
        Reply::new(200).body(json!({"messageIds": ids.collect::<Vec<&Value>>()}).to_string())
    });
    let block = format!(
        "google-pubsub(project(\"logs\") topic(\"all\") auth(service-account(key(\"{}\"))) \
         service-endpoint(\"http://127.0.0.1:{}\") workers(1) batch-timeout(100))",
        account.display(),
        server.port()
    );
    let mut penstock = Penstock::start(&lab, &config(&block));
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/projects/logs/topics/all:publish");
    let audience = "https://pubsub.googleapis.com/google.pubsub.v1.Publisher";
    let said = claims(&account, &requests[0], Some(audience));
    assert_eq!((&said["iss"], &said["sub"]), (&json!("me@example.com"), &json!("me@example.com")));
    assert_eq!(said["exp"].as_u64(), said["iat"].as_u64().map(|at| at + 3600));
    let all = requests.iter().flat_map(|request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        body["messages"].as_array().expect("messages").clone()
    });
    let all: Vec<Value> = all.collect();
    // `message number 0 of connection 0`
    assert_eq!(all[0]["data"], "bWVzc2FnZSBudW1iZXIgMCBvZiBjb25uZWN0aW9uIDA=");
    assert_eq!((all.len(), &all[0]["attributes"]["PROGRAM"]), (100, &json!("app")));
    assert!(all[0]["attributes"].as_object().expect("attributes").values().all(Value::is_string));
}

#[test]
fn scopes_and_accounts_of_the_machine() {
    let lab = Lab::new();
    let Some(account) = account(&lab) else { return skip(MISSING) };
    let server = HttpServer::start(0, |_| Reply::new(200));
    let scope = "https://www.googleapis.com/auth/logging.write";
    let key = account.display();
    let options = format!("cloud-auth(gcp(service-account(key(\"{key}\") scope(\"{scope}\"))))");
    let mut penstock = Penstock::start(&lab, &http(server.port(), &options));
    feed(lab.port("in"), 0, 1);
    penstock.wait_settled(1).assert_nothing_lost();
    let said = claims(&account, &server.requests()[0], None);
    assert_eq!((&said["scope"], said.get("aud")), (&json!(scope), None));
    let machine = tokens(0, 3600);
    for (url, folder) in [("", "/computeMetadata/v1/instance/service-accounts"), ("/other/", "/other")] {
        let url = format!("127.0.0.1:{}{url}", machine.port());
        let options = format!(
            "cloud-auth(gcp(user-managed-service-account(name(\"me@example.com\") metadata-url(\"{url}\"))))"
        );
        penstock.reload_with(&lab, &http(server.port(), &options));
        let before = server.requests().len();
        feed(lab.port("in"), 0, 1);
        wait_until("a request", || server.requests().len() > before);
        let asked = machine.requests().pop().expect("asked");
        assert_eq!((asked.method, asked.path), ("GET".into(), format!("{folder}/me@example.com/token")));
        assert_eq!(asked.headers["metadata-flavor"], "Google");
        let shown = server.requests().pop().expect("a request");
        assert_eq!(shown.header("authorization"), format!("Bearer token-{}", machine.requests().len()));
    }
}

#[test]
fn azure_monitor() {
    for (auth, block, stream) in [
        ("%login%", "azure-monitor-custom(table-name(\"Mine\")", "Custom-Mine_CL"),
        ("%login%", "azure-monitor-custom(table-name(\"Custom-Mine_CL\")", "Custom-Mine_CL"),
        ("azure(monitor(%login%))", "azure-monitor-builtin(table-name(\"Syslog\")", "Microsoft-Syslog"),
        ("%login%", "azure-monitor(stream-name(\"Custom-x\")", "Custom-x"),
    ] {
        let lab = Lab::new();
        let tokens = tokens(0, 3600);
        let server = HttpServer::start(0, |_| Reply::new(204));
        let login = format!(
            "tenant-id(\"T\") app-id(\"A\") app-secret(\"S\") login-url(\"http://127.0.0.1:{}\")",
            tokens.port()
        );
        let auth = auth.replace("%login%", &login);
        let text = format!(
            "{block} dce-uri(\"http://127.0.0.1:{}\") dcr-id(\"dcr-1\") auth({auth}) workers(1) batch-timeout(100) \
             template(\"$(format-json TimeGenerated=$ISODATE SyslogMessage=$MSG)\"))",
            server.port()
        );
        let mut penstock = Penstock::start(&lab, &config(&text));
        feed(lab.port("in"), 0, 100);
        penstock.wait_settled(100).assert_nothing_lost();
        let (asked, request) = (tokens.requests().remove(0), server.requests().remove(0));
        assert_eq!(asked.path, "/T/oauth2/v2.0/token");
        let scope = "scope=https%3A%2F%2Fmonitor.azure.com%2F%2F.default";
        assert_eq!(
            asked.text(),
            format!("grant_type=client_credentials&client_id=A&client_secret=S&{scope}")
        );
        let path = format!("/dataCollectionRules/dcr-1/streams/{stream}?api-version=2023-01-01");
        assert_eq!(
            (request.path.as_str(), request.header("authorization")),
            (path.as_str(), "Bearer token-1")
        );
        assert_eq!(request.header("content-type"), "application/json");
        let rows: Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!(rows[0]["SyslogMessage"], "message number 0 of connection 0");
    }
}

/// The signature as Python makes it of what came.
const SIGN: &str = "import base64, hashlib, hmac, sys\n\
                    text = 'POST\\n%s\\napplication/json\\nx-ms-date:%s\\n/api/logs' % tuple(sys.argv[1:3])\n\
                    key = base64.b64decode('c2VjcmV0')\n\
                    print(base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode())";

#[test]
fn sentinel_gets_requests_that_are_signed() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let block = format!(
        "sentinel(workspace-id(\"W\") auth-secret(\"c2VjcmV0\") content-compression(gzip) \
         url(\"http://127.0.0.1:{}/api/logs?api-version=2016-04-01\"))",
        server.port()
    );
    let mut penstock = Penstock::start(&lab, &config(&block));
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    for request in server.requests() {
        let mut command = Command::new("python3");
        command.args(["-c", SIGN, &request.body.len().to_string(), request.header("x-ms-date")]);
        let Ok(output) = command.output() else { return skip("no python3") };
        let signature = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert_eq!(request.header("authorization"), format!("SharedKey W:{signature}"));
        assert_eq!(
            (request.path.as_str(), request.header("log-type")),
            ("/api/logs?api-version=2016-04-01", "Syslog_CL")
        );
    }
}

#[test]
fn what_is_wrong_is_said() {
    let lab = Lab::new();
    for (options, words) in [
        ("cloud-auth(gcp())", "gcp() says one account"),
        ("cloud-auth()", "cloud-auth() says one way to get tokens"),
        ("cloud-auth(azure())", "azure() does not say for which service"),
        ("cloud-auth(azure(monitor(tenant-id(\"T\") app-id(\"A\"))))", "monitor() needs app-secret()"),
        ("cloud-auth(gcp(service-account(key(\"/nowhere\"))))", "/nowhere: No such file"),
        (
            "cloud-auth(oauth2(client-id(\"a\") client-secret(\"b\") token-url(\"ftp://x\")))",
            "neither http nor https",
        ),
        ("azure-auth-header(workspace-id(\"W\") secret(\"*\"))", "the key is not in base64"),
    ] {
        let (path, _) = lab.write_config("wrong.conf", &http(1, options));
        let outcome = run_command(&["check", path.to_str().expect("a path")]);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.code != Some(0) && said.contains(words), "{options}: {said}");
    }
}
