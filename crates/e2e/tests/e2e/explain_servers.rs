//! `penstock explain` on the running program: where real servers have put the message, as they say it
//! themselves. Where there is none, these are skipped.

use crate::explain_where::{asked, numbers, texts};
use serde_json::Value;
use testkit::hdfs::Hdfs;
use testkit::kafka::Kafka;
use testkit::mongodb::Mongodb;
use testkit::mosquitto::Mosquitto;
use testkit::otlp::{self, Otlp};
use testkit::pubsub::{self, PubSub};
use testkit::rabbitmq::Rabbitmq;
use testkit::redis::Redis;
use testkit::s3::S3;
use testkit::scripted::Scripted;
use testkit::snmp::{self, Snmptrapd};
use testkit::{
    Lab, Mariadb, Postgres, hdfs, kafka, mariadb, mongodb, mosquitto, postgres, rabbitmq, redis, s3, skip,
};

const TEXT: &str = "always the same";

fn text<'q>(queue: &'q Value, name: &str) -> &'q str {
    queue["place"][name].as_str().unwrap_or_else(|| panic!("no {name}: {queue}"))
}

fn number(queue: &Value, name: &str) -> u64 {
    queue["place"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {queue}"))
}

/// Each message was sent over a connection to this port.
#[track_caller]
fn assert_sent_to(queues: &[Value], port: u16) {
    let port = format!(":{port}");
    assert!(texts(queues, "server").iter().all(|server| server.contains(&port)), "{queues:?}");
}

#[test]
fn in_a_row_of_a_file() {
    let lab = Lab::new();
    let queues = asked(
        &lab,
        "sql(type(sqlite3) database(\"%dir%/logs.db\") table(\"of_$PROGRAM\") columns(\"msg text\") values(\"$MSG\"));",
    );
    assert_eq!(texts(&queues, "file"), [lab.path("logs.db").to_str().unwrap()].into());
    assert_eq!(texts(&queues, "table"), ["of_app"].into());
    let rows = numbers(&queues, "rowid");
    assert_eq!(rows.len(), 3, "{queues:?}");
    for row in rows {
        let statement = format!("SELECT msg FROM of_app WHERE rowid = {row}");
        match crate::sql::sqlite::query(&lab, &statement) {
            Some(found) => assert_eq!(found, [TEXT]),
            None => return skip(crate::sql::sqlite::MISSING),
        }
    }
}

#[test]
fn in_a_transaction_of_a_database() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(postgres::MISSING) };
    let own = "username(log) password(secret) database(logs) columns(\"id bigserial\", \"msg text\") values(default, \"$MSG\")";
    let queues = asked(&lab, &format!("sql(type(pgsql) host(\"127.0.0.1\") port({}) {own});", server.port()));
    assert_sent_to(&queues, server.port());
    assert_eq!((texts(&queues, "database"), texts(&queues, "table")), (["logs"].into(), ["messages"].into()));
    for transaction in numbers(&queues, "transaction") {
        let rows = server.query(&format!("SELECT msg FROM messages WHERE xmin = '{transaction}'"));
        assert!(!rows.is_empty() && rows.iter().all(|row| row == TEXT), "{transaction}: {rows:?}");
    }
}

#[test]
fn in_a_statement_of_a_database() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(mariadb::MISSING) };
    let own = "username(log) password(secret) database(logs) \
               columns(\"id bigint auto_increment primary key\", \"msg varchar(60)\") values(default, \"$MSG\")";
    let queues = asked(&lab, &format!("sql(type(mysql) host(\"127.0.0.1\") port({}) {own});", server.port()));
    assert_sent_to(&queues, server.port());
    assert_eq!(texts(&queues, "table"), ["messages"].into());
    for first in numbers(&queues, "first_id_of_statement") {
        assert_eq!(server.query(&format!("SELECT msg FROM messages WHERE id = {first}")), [TEXT]);
    }
}

#[test]
fn in_an_object() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(s3::MISSING) };
    let own = "bucket(\"logs\") access-key(\"access\") secret-key(\"secret\") object-key(\"$PROGRAM/log\") max-object-size(1KiB)";
    let queues = asked(&lab, &format!("s3(url(\"http://127.0.0.1:{}\") {own});", server.port()));
    assert_eq!(texts(&queues, "bucket"), ["logs"].into());
    for object in texts(&queues, "object") {
        assert!(
            object.starts_with("app/log-") && server.lines(object).iter().any(|line| line.contains(TEXT))
        );
    }
}

#[test]
fn in_a_file_of_a_cluster() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(hdfs::MISSING) };
    let own = "hdfs-file(\"/logs/$PROGRAM.log\") hdfs-append-enabled(yes) template(\"<$MSG>\\n\")";
    let queues = asked(&lab, &format!("hdfs(hdfs-uri(\"hdfs://127.0.0.1:{}\") {own});", cluster.port()));
    assert_eq!(texts(&queues, "path"), ["/logs/app.log"].into());
    let bytes = cluster.bytes("/logs/app.log");
    let offsets = numbers(&queues, "offset");
    assert_eq!(offsets.len(), 3, "each message has its own: {queues:?}");
    for offset in offsets {
        let (before, rest) = bytes.split_at(offset as usize);
        let begins = before.is_empty() || before.ends_with(b"\n");
        assert!(begins && rest.starts_with(format!("<{TEXT}>\n").as_bytes()), "{offset}");
    }
}

#[test]
fn in_a_collection_under_an_id() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(mongodb::MISSING) };
    let uri = format!("mongodb://127.0.0.1:{}/logs", server.port());
    let queues = asked(&lab, &format!("mongodb(uri(\"{uri}\") collection(\"of_$PROGRAM\"));"));
    assert_sent_to(&queues, server.port());
    assert_eq!(
        (texts(&queues, "database"), texts(&queues, "collection")),
        (["logs"].into(), ["of_app"].into())
    );
    let ids = texts(&queues, "_id");
    assert_eq!(ids.len(), 3, "{queues:?}");
    for id in ids {
        let script = format!(
            "from bson import ObjectId\nprint(db.of_app.find_one({{'_id': ObjectId('{id}')}})['MESSAGE'])"
        );
        assert_eq!(server.ask(&script), [TEXT]);
    }
}

#[test]
fn in_a_partition_once_its_transaction_is_over() {
    let lab = Lab::new();
    let Some(server) = Kafka::start(&lab, "", None) else { return skip(kafka::MISSING) };
    server.create("logs", 1, &[]);
    let own = "topic(logs) message(\"$MSG\") sync-send(yes) persist-name(explained)";
    let queues = asked(&lab, &format!("kafka(bootstrap-servers(\"{}\") {own});", server.server()));
    assert_eq!((texts(&queues, "topic"), numbers(&queues, "partition")), (["logs"].into(), [0].into()));
    let offsets = numbers(&queues, "offset");
    assert_eq!(offsets.len(), 3, "each message has its own: {queues:?}");
    for offset in offsets {
        assert_eq!(server.value_at("logs", 0, offset), TEXT);
    }
}

#[test]
fn in_a_list_of_so_many() {
    let lab = Lab::new();
    let Some(server) = Redis::start(&lab, &[], &[]) else { return skip(redis::MISSING) };
    let queues = asked(&lab, &format!("redis(port({}) command(RPUSH logs \"$MSG\"));", server.port()));
    assert_sent_to(&queues, server.port());
    assert_eq!((texts(&queues, "command"), texts(&queues, "key")), (["RPUSH"].into(), ["logs"].into()));
    let replies = texts(&queues, "reply");
    assert_eq!(replies.len(), 3, "{queues:?}");
    for reply in replies {
        let last: usize = reply.parse().expect("the length of the list");
        assert_eq!(server.ask(&["LINDEX", "logs", &(last - 1).to_string()]), [TEXT]);
    }
}

#[test]
fn under_a_topic_in_a_packet() {
    let lab = Lab::new();
    let open = "listener PORT 127.0.0.1\nallow_anonymous true";
    let Some(server) = Mosquitto::start(&lab, open, &[]) else { return skip(mosquitto::MISSING) };
    let own = "topic(\"of/$PROGRAM\") template(\"$MSG\") qos(1)";
    let queues = asked(&lab, &format!("mqtt(address(\"tcp://127.0.0.1:{}\") {own});", server.port()));
    assert_sent_to(&queues, server.port());
    assert_eq!(texts(&queues, "topic"), ["of/app"].into());
    assert_eq!(numbers(&queues, "packet").len(), 3, "{queues:?}");
}

#[test]
fn at_an_exchange_under_an_id_and_at_a_queue_with_a_receipt() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(rabbitmq::MISSING) };
    server.declare("logs", "topic", "app.*");
    let own = "exchange(\"logs\") routing-key(\"app.$PROGRAM\") body(\"$MSG\")";
    let queues = asked(&lab, &format!("amqp(port({}) {own});", server.amqp));
    assert_sent_to(&queues, server.amqp);
    assert_eq!(
        (texts(&queues, "exchange"), texts(&queues, "routing_key")),
        (["logs"].into(), ["app.app"].into())
    );
    let found = server.take("logs", "properties.message_id");
    assert!(queues.iter().all(|queue| found.iter().any(|id| id == text(queue, "message_id"))), "{queues:?}");
    let other = Lab::new();
    let own =
        "body(\"$MSG\") username(\"guest\") password(\"guest\") destination(\"/queue/others\") ack(yes)";
    let queues = asked(&other, &format!("stomp(port({}) {own});", server.stomp));
    assert_sent_to(&queues, server.stomp);
    assert_eq!(texts(&queues, "destination"), ["/queue/others"].into());
    assert!(queues.iter().map(|queue| number(queue, "receipt")).max() > Some(0), "{queues:?}");
}

#[test]
fn in_a_call_of_grpc() {
    let lab = Lab::new();
    let Some(server) = Otlp::start(&lab, &[]) else { return skip(otlp::MISSING) };
    let queues = asked(&lab, &format!("opentelemetry(url(\"127.0.0.1:{}\"));", server.port()));
    assert_sent_to(&queues, server.port());
    let method = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
    assert_eq!((texts(&queues, "method"), texts(&queues, "status")), ([method].into(), ["OK"].into()));
    assert!(numbers(&queues, "call").iter().all(|number| *number > 0), "{queues:?}");
}

/// By the id that the very message has there, over gRPC and over HTTP.
#[test]
fn in_a_topic_of_pubsub_under_an_id() {
    let lab = Lab::new();
    let Some(server) = PubSub::start(&lab, "projects/p/topics/t") else { return skip(pubsub::MISSING) };
    let own = format!("service-endpoint(\"127.0.0.1:{}\") project(\"p\") topic(\"t\")", server.port());
    let queues = asked(&lab, &format!("google-pubsub-grpc({own});"));
    let published = server.wait_messages(3);
    for id in texts(&queues, "id") {
        assert!(published.iter().any(|message| message["id"] == id), "{id}: {published:?}");
    }
    assert_eq!(texts(&queues, "id").len(), 3, "{queues:?}");

    let lab = Lab::new();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = testkit::HttpServer::start(0, move |request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        let ids: Vec<String> = body["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|_| count.fetch_add(1, std::sync::atomic::Ordering::SeqCst).to_string())
            .collect();
        testkit::Reply::new(200).body(serde_json::json!({"messageIds": ids}).to_string())
    });
    let queues = asked(
        &lab,
        &format!(
            "http(url(\"http://127.0.0.1:{}/v1/projects/p/topics/t:publish\") response-adapter(\"google-pubsub\") \
             body-prefix(\"{{\\\"messages\\\":[\") delimiter(\",\") body-suffix(\"]}}\") body(\"{{}}\"));",
            server.port()
        ),
    );
    assert_eq!(texts(&queues, "id").len(), 3, "{queues:?}");
}

/// The reply to a mail has its number in the queue of most servers.
#[test]
fn in_a_mail_that_a_server_took() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else {
        return skip("no library of mail servers in Python, see `./x servers smtp`");
    };
    let own = "from(\"log@a.example\") to(\"one@a.example\") subject(\"$PROGRAM\") body(\"$MSG\\n\")";
    let queues = asked(&lab, &format!("smtp(port({}) {own});", server.port()));
    assert_sent_to(&queues, server.port());
    assert!(texts(&queues, "reply").iter().all(|reply| reply.starts_with("250 ")), "{queues:?}");
}

#[test]
fn in_an_event_of_riemann() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else {
        return skip("no protobuf in Python, see `./x servers riemann`");
    };
    let queues = asked(&lab, &format!("riemann(port({}) description(\"$MSG\"));", server.port()));
    assert_sent_to(&queues, server.port());
    assert_eq!(texts(&queues, "protocol"), ["tcp"].into());
}

#[test]
fn in_a_trap_with_a_number() {
    let lab = Lab::new();
    let Some(server) = Snmptrapd::start(&lab, "") else { return skip(snmp::MISSING) };
    let own = "trap-obj(\".1.3.6.1.6.3.1.1.4.1.0\" \"Objectid\" \".1.3.6.1.4.1.18372.3.1.1.1\") \
               snmp-obj(\".1.3.6.1.4.1.18372.3.1.1.1.1.1.0\" \"Octetstring\" \"$MSG\")";
    let queues = asked(&lab, &format!("snmp(port({}) {own});", server.port()));
    assert_sent_to(&queues, server.port());
    assert_eq!(numbers(&queues, "request_id").len(), 3, "each has its own: {queues:?}");
}
