//! `penstock explain` on the running program: where each destination has put the message.

use crate::explain::ask_and_send;
use crate::messages::HEAD;
use serde_json::Value;
use std::collections::BTreeSet;
use testkit::kafka::ScriptedKafka;
use testkit::{Collector, HttpServer, Lab, Penstock, Reply, wait_until};

const LINE: &str = "<13>Nov 11 01:02:03 web app: always the same";

/// A program with one destination.
fn start(lab: &Lab, destination: &str) -> Penstock {
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); }};\n"
    );
    Penstock::start(lab, &config)
}

/// Asks it for messages, all alike.
fn answer(lab: &Lab, args: &[&str]) -> String {
    let args = [&["--next", "program(app)", "--timeout", "60"], args].concat();
    let outcome = ask_and_send(lab, &args, &[LINE, LINE]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

/// What is said of the queue for each of three messages, once all three are delivered and it is said where.
pub fn asked(lab: &Lab, destination: &str) -> Vec<Value> {
    let penstock = start(lab, destination);
    let mut queues = Vec::new();
    wait_until("messages that are somewhere", || {
        let told: Value = serde_json::from_str(&answer(lab, &["--count", "3", "--json"])).expect("JSON");
        let messages = told["messages"].as_array().expect("messages");
        queues = messages.iter().filter_map(|message| queue(&message["steps"])).collect();
        queues.iter().all(|queue| queue["state"] == "delivered" && queue["place"].is_object())
    });
    penstock.stop();
    assert_eq!(queues.len(), 3);
    assert!(queues.iter().all(|queue| queue["microseconds"].is_u64()), "{queues:?}");
    queues
}

/// What is said of the queue in the only step that has one.
pub fn queue(steps: &Value) -> Option<Value> {
    let mut steps = steps.as_array()?.iter();
    steps.find_map(|step| step.get("queue").cloned().or_else(|| queue(step.get("steps")?)))
}

pub fn numbers(queues: &[Value], name: &str) -> BTreeSet<u64> {
    queues.iter().map(|queue| queue["place"][name].as_u64().unwrap_or_else(|| panic!("{queue}"))).collect()
}

pub fn texts<'q>(queues: &'q [Value], name: &str) -> BTreeSet<&'q str> {
    queues.iter().map(|queue| queue["place"][name].as_str().unwrap_or_else(|| panic!("{queue}"))).collect()
}

#[test]
fn in_a_file_at_an_offset() {
    let lab = Lab::new();
    // The file has something already.
    std::fs::write(lab.path("out"), "what was there before\n").unwrap();
    let queues = asked(&lab, "file(\"%dir%/out\" template(\"<$MSG>\\n\"));");
    assert_eq!(texts(&queues, "file"), [lab.path("out").to_str().unwrap()].into());
    let offsets = numbers(&queues, "offset");
    assert_eq!(offsets.len(), 3, "each message has its own: {queues:?}");
    let text = std::fs::read_to_string(lab.path("out")).unwrap();
    for queue in &queues {
        let offset = queue["place"]["offset"].as_u64().unwrap() as usize;
        let (before, rest) = text.split_at(offset);
        assert!(before.ends_with('\n') && rest.starts_with("<always the same>\n"), "{offset} in {text}");
        assert_eq!(queue["place"]["line"], before.lines().count() + 1);
    }
}

#[test]
fn in_words() {
    let lab = Lab::new();
    let penstock = start(&lab, "file(\"%dir%/out\");");
    let place = format!(": file {}, offset ", lab.path("out").display());
    wait_until("a message that is in the file", || {
        let text = answer(&lab, &[]);
        text.lines().any(|line| line.contains("delivered after ") && line.contains(&place))
    });
    penstock.stop();
}

#[test]
fn on_a_connection() {
    let lab = Lab::new();
    let _collector = Collector::tcp(lab.port("out"));
    let queues = asked(&lab, "network(127.0.0.1 port(%port:out%));");
    let port = format!(":{}", lab.port("out"));
    assert!(texts(&queues, "server").iter().all(|server| server.contains(&port)), "{queues:?}");
    assert!(texts(&queues, "from").iter().all(|from| from.starts_with("AF_INET(127.0.0.1:")), "{queues:?}");
}

#[test]
fn in_an_answered_request() {
    let lab = Lab::new();
    let server = HttpServer::start(lab.port("out"), |_| Reply::new(202));
    let options = "batch-lines(1)";
    let url = format!("http://127.0.0.1:{}/in?token=secret", server.port());
    let queues = asked(&lab, &format!("http(url(\"{url}\") {options});"));
    assert_eq!(texts(&queues, "url"), [url.split('?').next().unwrap()].into(), "no secret is shown");
    assert_eq!(numbers(&queues, "status"), [202].into());
    assert_eq!(numbers(&queues, "request").len(), 3, "{queues:?}");
}

/// The key by which messages are sorted into batches stands in front of each in the queue, and nowhere else.
#[test]
fn what_is_shown_is_what_is_sent() {
    let lab = Lab::new();
    let server = HttpServer::start(lab.port("out"), |_| Reply::new(200));
    let url = format!("http://127.0.0.1:{}/of/$PROGRAM", server.port());
    let penstock = start(&lab, &format!("http(url(\"{url}\") body(\"<$MSG>\"));"));
    let told: Value = serde_json::from_str(&answer(&lab, &["--json"])).expect("JSON");
    let output = output(&told["messages"][0]["steps"]).expect("an output");
    assert_eq!((&output["text"], &output["bytes"]), (&"<always the same>".into(), &17.into()));
    penstock.stop();
}

/// What is said of the output in the only step that has one.
fn output(steps: &Value) -> Option<Value> {
    let events = |step: &Value| step["events"].as_array().into_iter().flatten().cloned().collect::<Vec<_>>();
    let output =
        |step: &Value| events(step).iter().find(|e| e["event"] == "output").map(|e| e["output"].clone());
    steps.as_array()?.iter().find_map(|step| output(step).or_else(|| self::output(step.get("steps")?)))
}

#[test]
fn in_an_index_under_an_id() {
    let lab = Lab::new();
    let server = HttpServer::start(lab.port("out"), |request| {
        let items: Vec<String> = (0..request.lines().len() / 2)
            .map(|at| format!("{{\"index\":{{\"_index\":\"logs-7\",\"_id\":\"id{at}\",\"status\":201}}}}"))
            .collect();
        Reply::new(200).body(format!("{{\"errors\":false,\"items\":[{}]}}", items.join(",")))
    });
    let url = format!("http://127.0.0.1:{}/_bulk", server.port());
    let queues = asked(
        &lab,
        &format!(
            "http(url(\"{url}\") body('{{\"index\":{{}}}}\n{{\"m\":1}}') delimiter(\"\\n\") body-suffix(\"\\n\") \
             response-adapter(elasticsearch) batch-lines(10) batch-timeout(10));"
        ),
    );
    assert_eq!(texts(&queues, "index"), ["logs-7"].into());
    assert!(texts(&queues, "_id").iter().all(|id| id.starts_with("id")), "{queues:?}");
    // Only where somebody follows a message, the answer is to say so much.
    let asks =
        |more: bool| server.requests().iter().any(|request| request.path.contains("items.*._id") == more);
    assert!(asks(true) && asks(false));
}

#[test]
fn in_a_partition_at_an_offset() {
    let (lab, kafka) = (Lab::new(), ScriptedKafka::start(3));
    let queues = asked(
        &lab,
        &format!("kafka(bootstrap-servers(\"{}\") topic(logs) message(\"$MSG\"));", kafka.server()),
    );
    assert_eq!(texts(&queues, "topic"), ["logs"].into());
    let place = |queue: &Value| {
        (queue["place"]["partition"].as_i64().unwrap(), queue["place"]["offset"].as_u64().unwrap() as usize)
    };
    let places: BTreeSet<_> = queues.iter().map(place).collect();
    assert_eq!(places.len(), 3, "each message has its own: {queues:?}");
    for (partition, offset) in places {
        let of_partition = kafka.written().into_iter().filter(|one| i64::from(one.partition) == partition);
        assert_eq!(of_partition.map(|one| one.value).nth(offset).as_deref(), Some("always the same"));
    }
}

#[test]
fn in_a_transaction_of_a_session() {
    let (lab, peer) = (Lab::new(), Lab::new());
    let receiver = format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let receiving = Penstock::start(&peer, &receiver);
    let queues = asked(&lab, &format!("relp(127.0.0.1 port({}));", peer.port("in")));
    let port = format!(":{}", peer.port("in"));
    assert!(texts(&queues, "server").iter().all(|server| server.contains(&port)), "{queues:?}");
    let transactions = numbers(&queues, "transaction");
    assert!(transactions.len() == 3 && transactions.iter().all(|number| *number > 1), "{queues:?}");
    receiving.stop();
}
