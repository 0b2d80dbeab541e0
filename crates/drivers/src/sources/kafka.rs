//! `kafka()`: messages from topics of a Kafka cluster, read from the record batches directly; positions are
//! kept by acknowledgement.

mod bookmarks;
mod brokers;
mod messages;
mod port;
mod table;
mod topics;

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use intake::reading::{Defaults, Reading};
use kafka::{ConsumerOptions, GroupOptions, Rule};
use kafka_client::{Dial, Properties, Role, Server};
use port::{Bookmarking, KafkaPort, Parts};
use record::Context;
use std::sync::Arc;
use std::time::Duration;
use topics::Topics;
use wire::Framing;

pub const PARTS: &[SourcePart] =
    &[SourcePart::new(&table::KAFKA, |s, cx, d| build(s, cx, d).ok_or(diag::Reported))];

/// Before the names of what is known of a message beside its text.
const PREFIX: &str = ".kafka.";

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<SourceDriver> {
    let properties = Properties::read(Role::Consumer, s, diags)?;
    let (servers, listed) = kafka_client::servers(s, &properties, diags)?;
    let topics = Topics::read(s, diags)?;
    let mut dial = kafka_client::dial(s, &properties, diags)?;
    if let Some(most) = s.seconds("time-reopen") {
        dial.pause_max = dial.pause_max.min(most).max(dial.pause);
    }
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: false, expect_hostname: true, local: true };
    let reading = Reading::whole_messages(s, cx, &defaults, diags);
    let key = match &reading.persist_name {
        Some(name) => name.clone(),
        None => format!("kafka_sd({servers},{topics})"),
    };
    let bookmarks = bookmarking(s);
    of_one_protocol(s, &topics, &properties, diags)?;
    let group = group(s, &topics, &properties, &key, diags);
    let fetch_limit = s.int("log-fetch-limit").unwrap_or(10_000).max(1) as usize;
    if s.bool("store-metadata").unwrap_or(true) {
        cx.scope.sets(PREFIX);
    }
    let r = &properties.reads;
    let start = KafkaStart {
        dial: Arc::new(dial),
        servers: listed.into(),
        topics: Arc::new(topics),
        consumer: ConsumerOptions {
            size: r.size,
            reading: kafka::Reading { committed_only: r.size.committed_only, checked: r.checked },
            refresh: properties.refresh,
            unread_bytes_max: r.unread_bytes_max,
            rack: r.rack.as_str().into(),
        },
        group,
        commit: r.commit,
        bookmarks,
        metadata: s.bool("store-metadata").unwrap_or(true),
        encoding: reading.encoding,
        fetch_limit,
        window_messages: reading.window_messages,
        key: key.clone(),
        host: Arc::clone(&reading.local_name),
        source: cx.group.into(),
    };
    let opened_with = start.described();
    let (syslog, finish) = (reading.syslog.clone(), reading.finish.clone());
    Some(SourceDriver {
        key,
        opened_with,
        driver: "kafka",
        instance: format!("kafka,{servers},{}", start.topics),
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::new(syslog.clone(), finish.clone(), program)),
        start: Box::new(start),
    })
}

fn bookmarking(s: &Settings) -> Bookmarking {
    let disabled = s.bool("disable-bookmarks").unwrap_or(false);
    let remote = s.choice("persist-store") == Some("remote");
    Bookmarking {
        local: !remote && !disabled,
        remote: remote && !disabled,
        ignored: s.bool("ignore-saved-bookmarks").unwrap_or(false),
        read_old: s.bool("read-old-records").unwrap_or(false),
    }
}

/// `None` after it was reported that properties do not fit the protocol of the group.
fn of_one_protocol(s: &Settings, topics: &Topics, p: &Properties, diags: &mut Diagnostics) -> Option<()> {
    let r = &p.reads;
    let at = s.span("config").or(s.call_span())?;
    let mut wrong = |text: String, help: &str| {
        diags.push(Diagnostic::error("D0162", text, at).help(help.to_owned()));
        None
    };
    let is_member = s.choice("persist-store") == Some("remote") && topics.is_subscription();
    match (r.is_ruled, r.classic, &r.assignor) {
        (true, ..) if !is_member => wrong(
            "`group.protocol` consumer is for members of a group".to_owned(),
            "write `persist-store(remote)` and `topic(\"name\" => \"-1\")`, or leave it out",
        ),
        (true, Some(name), _) => {
            let text = format!("with `group.protocol` consumer the brokers say what `{name}` is about");
            wrong(text, "leave it out")
        }
        (false, _, Some(_)) => wrong(
            "`group.remote.assignor` needs `group.protocol` consumer".to_owned(),
            "add `\"group.protocol\" => \"consumer\"`, or use `partition.assignment.strategy`",
        ),
        _ => Some(()),
    }
}

/// The group, where offsets are kept in the cluster.
fn group(
    s: &Settings,
    topics: &Topics,
    p: &Properties,
    key: &str,
    diags: &mut Diagnostics,
) -> Option<GroupOptions> {
    if s.choice("persist-store") != Some("remote") {
        if p.reads.group.is_some()
            && let Some(at) = s.span("config")
        {
            let text =
                "`group.id` changes nothing: bookmarks are kept here, and this source alone reads its topics";
            let finding = Diagnostic::remark("D0161", text, at);
            diags.push(finding.help("with `persist-store(remote)` they are kept in the group"));
        }
        return None;
    }
    let r = &p.reads;
    Some(GroupOptions {
        group: r.group.clone().unwrap_or_else(|| format!("penstock-{key}")).into(),
        instance: r.instance.clone(),
        is_member: topics.is_subscription(),
        session: r.session,
        rebalance: r.rebalance,
        heartbeat: r.heartbeat,
        strategies: r.strategies.clone(),
        rule: r.is_ruled.then(|| Rule { assignor: r.assignor.clone() }),
    })
}

struct KafkaStart {
    dial: Arc<Dial>,
    servers: Arc<[Server]>,
    topics: Arc<Topics>,
    consumer: ConsumerOptions,
    group: Option<GroupOptions>,
    commit: Duration,
    bookmarks: Bookmarking,
    metadata: bool,
    encoding: Option<conf_schema::Encoding>,
    fetch_limit: usize,
    window_messages: Option<usize>,
    key: String,
    host: Arc<str>,
    /// The source statement.
    source: Arc<str>,
}

impl KafkaStart {
    /// Differs where reading has to begin anew.
    fn described(&self) -> String {
        let encoding = self.encoding.map(|encoding| encoding.name());
        format!(
            "{} {} {:?} {} {:?} {:?} {:?} {:?} {} {encoding:?} {} {:?} {}",
            self.source,
            self.dial.described(),
            self.servers,
            self.topics,
            self.consumer,
            self.group,
            self.commit,
            self.bookmarks,
            self.metadata,
            self.fetch_limit,
            self.window_messages,
            self.host
        )
    }
}

impl Start for KafkaStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let parts = Parts {
            dial: Arc::clone(&self.dial),
            servers: Arc::clone(&self.servers),
            topics: Arc::clone(&self.topics),
            consumer: self.consumer.clone(),
            group: self.group.clone(),
            commit: self.commit,
            bookmarks: self.bookmarks,
            metadata: self.metadata,
            encoding: self.encoding,
            fetch_limit: self.fetch_limit,
            window_messages: self.window_messages,
            key: self.key.clone(),
            store: Arc::clone(shared.state()),
            context: Arc::new(Context::local(&self.source, &self.host, "local+kafka")),
            source: Arc::clone(source),
        };
        worker.add(move |token, cx| Ok(Box::new(KafkaPort::new(parts, cx, token))));
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}
