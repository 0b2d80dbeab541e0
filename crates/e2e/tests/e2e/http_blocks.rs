//! The blocks of the configuration library that stand on `http()`: what each of them asks its service.

use crate::messages::HEAD;
use serde_json::{Value, json};
use testkit::{HttpServer, Lab, Penstock, Reply, Request, Sender};

/// With what JSON has to escape.
const MESSAGE: &str = "<13>Nov 11 01:02:03 host app[7]: a \"quoted\" message & more";
const MSG: &str = "a \"quoted\" message & more";

/// What a service is asked when one message goes to a block; `%url%` is its address.
#[track_caller]
fn asked(block: &str, answer: &str) -> Request {
    asked_of(MESSAGE, block, answer)
}

#[track_caller]
fn asked_of(message: &str, block: &str, answer: &str) -> Request {
    let lab = Lab::new();
    let answer = answer.to_owned();
    let server = HttpServer::start(0, move |_| Reply::new(200).body(answer.clone()));
    let block = block.replace("%url%", &format!("http://127.0.0.1:{}", server.port()));
    let config = format!(
        "{HEAD}@include \"scl.conf\"\nsource own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ {block}; }};\nlog {{ source(own); destination(away); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(message);
    sender.finish();
    penstock.wait_settled(1).assert_nothing_lost();
    penstock.stop();
    server.requests().remove(0)
}

#[track_caller]
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn bulk(block: &str) -> (Request, Value, Value) {
    let request = asked(block, "{\"errors\":false}");
    assert!(request.text().ends_with('\n') && request.header("content-type") == "application/x-ndjson");
    assert!(request.path.contains("filter_path=errors,items"), "{}", request.path);
    let lines = request.lines();
    assert_eq!(lines.len(), 2, "{}", request.text());
    let [action, document] = [parsed(&lines[0]), parsed(&lines[1])];
    assert_eq!(document["MESSAGE"], MSG);
    (request, action, document)
}

#[test]
fn elasticsearch_http() {
    let (request, action, document) = bulk(
        "elasticsearch-http(url(\"%url%/_bulk\") index(\"syslog-${HOST}\") custom-id(\"${PID}\") user(me) password(x))",
    );
    assert!(request.path.starts_with("/_bulk?"));
    assert_eq!(action, json!({"index": {"_index": "syslog-host", "_id": "7"}}));
    assert!(document["@timestamp"].is_string() && document["HOST"] == "host", "{document}");
    let (_, action, _) =
        bulk("elasticsearch-http(url(\"%url%/_bulk\") index(\"i\") type(\"doc\") op-type(\"create\"))");
    assert_eq!(action, json!({"create": {"_index": "i", "_type": "doc"}}));
    let (_, action, _) = bulk("elasticsearch-http(url(\"%url%/_bulk\") index(\"i\") custom-id(auto))");
    assert_eq!(action["index"]["_id"].as_str().map(str::len), Some(36), "{action}");
}

#[test]
fn opensearch_and_data_streams() {
    let (_, action, _) = bulk("opensearch(url(\"%url%/_bulk\") index(\"i\"))");
    assert_eq!(action, json!({"index": {"_index": "i"}}));
    let (request, action, _) = bulk("elasticsearch-datastream(url(\"%url%/stream/_bulk\"))");
    assert!(request.path.starts_with("/stream/_bulk?"));
    assert_eq!(action, json!({"create": {}}));
}

/// Drivers of older versions, of syslog-ng PE and of Java's, as they are written.
#[test]
fn old_names() {
    let (request, action, _) = bulk(
        "elasticsearch2(client-lib-dir(\"/usr/share/elasticsearch/lib\") client-mode(\"http\") cluster(\"es\") \
         cluster-url(\"%url%\") index(\"logs-${HOST}\") type(\"doc\") flush-limit(\"1\") \
         http-auth-type(\"basic\") http-auth-type-basic-username(\"me\") http-auth-type-basic-password(\"x\"))",
    );
    assert_eq!(request.header("authorization"), "Basic bWU6eA==");
    assert_eq!(action, json!({"index": {"_index": "logs-host", "_type": "doc"}}));
    let (_, action, _) = bulk(
        "java(class-path(\"/usr/lib/syslog-ng/java-modules/*.jar\") \
         class-name(\"org.syslog_ng.elasticsearch_v2.ElasticSearchDestination\") \
         option(\"index\", \"i\") option(\"cluster_url\", \"%url%/\") option(\"concurrent_requests\", \"2\"))",
    );
    assert_eq!(action, json!({"index": {"_index": "i"}}));
    let good = "{\"text\":\"Success\",\"code\":0}";
    let request =
        asked("splunk-hec(url(\"%url%/services/collector/event\") token(\"T\") index(\"net\"))", good);
    assert!(request.path.starts_with("/services/collector/event"), "{}", request.path);
    assert_eq!(parsed(&request.text())["index"], "net");
}

#[test]
fn splunk() {
    let good = "{\"text\":\"Success\",\"code\":0}";
    let request = asked("splunk-hec-event(url(\"%url%\") token(\"T\") index(\"net\"))", good);
    assert!(request.path.starts_with("/services/collector/event"));
    assert_eq!(request.header("authorization"), "Splunk T");
    let event = parsed(&request.text());
    assert_eq!(
        (&event["event"], &event["index"], &event["host"]),
        (&json!(MSG), &json!("net"), &json!("host"))
    );
    assert_eq!((&event["sourcetype"], &event["source"]), (&json!("nix:syslog"), &json!("syslog-ng")));
    let request =
        asked("splunk-hec-raw(url(\"%url%\") token(\"T\") channel(\"C\") source(\"my source\"))", good);
    let expected =
        "/services/collector/raw?channel=C&index=main&source=my%20source&sourcetype=syslog&host=host";
    assert!(request.path.starts_with(expected), "{}", request.path);
    assert!(request.text().ends_with(&format!(" host app[7]: {MSG}\n")), "{}", request.text());
    let request = asked("splunk-hec-event(url(\"%url%\") token(\"T\") fields(\"env=prod h=${HOST}\"))", good);
    let event = parsed(&request.text());
    assert_eq!((&event["fields"], event.get("env")), (&json!({"env": "prod", "h": "host"}), None), "{event}");
}

/// Messages that are told apart by nothing but what stands between them.
#[test]
fn splunk_raw_events_end_where_they_end() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200).body("{\"text\":\"Success\",\"code\":0}"));
    let config = format!(
        "{HEAD}@include \"scl.conf\"\nsource own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ splunk-hec-raw(url(\"http://127.0.0.1:{}\") token(\"T\") channel(\"C\") workers(1) template(\"${{MSG}}\")); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n",
        server.port()
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(MESSAGE);
    sender.line(MESSAGE);
    sender.finish();
    penstock.wait_settled(2).assert_nothing_lost();
    penstock.stop();
    let all: String = server.requests().iter().map(Request::text).collect();
    assert_eq!(all, format!("{MSG}\n{MSG}\n"));
}

#[test]
fn openobserve_and_logscale() {
    let good = "{\"code\":200,\"status\":[{\"name\":\"default\",\"successful\":1,\"failed\":0}]}";
    let request =
        asked("openobserve-log(url(\"%url%/x?y=\") user(\"u\") password(\"p\") stream(\"s\"))", good);
    assert!(request.path.contains(":5080/api/default/s/_json"), "{}", request.path);
    assert_eq!(
        (request.header("authorization"), &parsed(&request.text())[0]["MESSAGE"]),
        ("Basic dTpw", &json!(MSG))
    );
    let request = asked("logscale(url(\"%url%\") token(\"T\"))", "");
    assert_eq!(
        (request.path.as_str(), request.header("authorization")),
        ("/api/v1/ingest/humio-structured", "Bearer T")
    );
    let event = &parsed(&request.text())[0]["events"][0];
    assert_eq!((&event["rawstring"], &event["attributes"]["HOST"]), (&json!(MSG), &json!("host")), "{event}");
}

/// What is asked is what syslog-ng's blocks of these names ask.
#[test]
fn chats() {
    let request = asked("slack(hook-url(\"%url%/hook\") batch-lines(5))", "ok");
    let attachments = &parsed(&request.text())["attachments"];
    let said = "host: host | program: app(7) | severity: notice";
    let expected = json!([{
        "text": MSG, "fallback": format!("{MSG} - {said}"), "color": "#7DCEA0", "author_name": said, "ts": attachments[0]["ts"],
    }]);
    assert_eq!(attachments, &expected);
    assert!(attachments[0]["ts"].is_number());
    let telegram = "telegram(bot-id(\"1:A\") chat-id(\"-5\") api-url(\"%url%\") extra-parameters(\"message_thread_id=5\"))";
    let request = asked(telegram, "{\"ok\":true}");
    assert_eq!(request.path, "/bot1:A/sendMessage");
    let expected =
        "&disable_notification=false&message_thread_id=5&text=a%20%22quoted%22%20message%20%26%20more";
    assert!(request.text().ends_with(expected), "{}", request.text());
    let request = asked("discord(url(\"%url%/d\") username(\"me\"))", "");
    assert_eq!(parsed(&request.text()), json!({"content": MSG, "username": "me", "tts": false}));
    // Discord takes no message without a text.
    let request = asked_of("<13>Nov 11 01:02:03 host app[7]: ", "discord(url(\"%url%/d\"))", "");
    assert_eq!(parsed(&request.text())["content"], "[empty message]");
}
