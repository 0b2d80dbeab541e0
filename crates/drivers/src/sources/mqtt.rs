//! `mqtt()`: messages that a server of MQTT has for the topics that are subscribed to; each is answered
//! when it is dealt with.

mod account;
mod port;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use dialogue::{Dial, HTTP_PROXY, SERVER, dial, proxy};
use driver_options::SECONDS_MAX;
use driver_options::source_groups::{MESSAGE_FORMAT, READER_FLAGS, SOURCE};
use driver_options::tls_groups::SECURE_CLIENT;
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use intake::reading::{Defaults, Reading};
use mqtt_client::options::{CLIENT, keep_alive, login, quality, server, version};
use mqtt_client::{Subscription, is_filter};
use port::{MqttPort, Parts};
use std::sync::Arc;
use std::time::Duration;
use wire::Framing;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&MQTT, build)];

/// The value with the topic of a message.
const TOPIC: &str = ".mqtt.topic";

const OWN: &[Opt] = &[
    Opt::new(
        "topic",
        Kind::TextList,
        Preset::None,
        "Topics, in which `+` stands for one level and `#` at the end for all that follow. One at least has to be given. Collects.",
    )
    .collects()
    .sample("\"syslog/#\""),
    Opt::new(
        "qos",
        Kind::Int { min: 0, max: 2 },
        Preset::Int(0),
        "The highest quality of service: with 0 messages come without answers, with 1 and 2 the server keeps each until it is dealt with here.",
    ),
    Opt::new(
        "client-id",
        Kind::Text,
        Preset::Described("`syslog-ng-source-` and the topics, or the persist-name()"),
        "The name of this client at the server. Two of one name put one another out.",
    )
    .sample("collector"),
    Opt::new(
        "cleansession",
        Kind::Bool,
        Preset::Bool(false),
        "Have the server forget this client with each connection. Without it, the server keeps messages of quality 1 and 2 while the collector is away.",
    ),
    Opt::new(
        "time-reopen",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Global("time-reopen"),
        "The longest pause between two attempts to connect.",
    ),
    Opt::no_effect("fetch-no-data-delay", "the server sends messages when there are any"),
];

static MQTT: Component = Component {
    context: Context::Source,
    name: "mqtt",
    aliases: &[],
    positional: &[],
    groups: &[&CLIENT, &READER_FLAGS, &MESSAGE_FORMAT, &SOURCE, &SERVER, &HTTP_PROXY, &SECURE_CLIENT],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Subscribes to topics of a server of MQTT. Each message is read as a syslog message; `flags(no-parse)` takes it whole. With qos(1) and \
              qos(2) the server hears that a message has come when the destinations have dealt with it, and sends it again to whoever comes \
              back until then; use flags(flow-control) in the log paths. See docs/mqtt.md.",
    example: "mqtt(address(\"tcp://mq.example.com:1883\") topic(\"syslog/#\") qos(1) flags(no-parse))",
    cost: Some(Cost::elsewhere("A copy of each message, and an answer to it.")),
};

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let filters = filters(s, diags)?;
    let to = server(s, diags)?;
    let described = format!("mqtt,{},{},{}", to.host, to.port, filters.join(","));
    let dial = Dial { proxy: proxy(s, diags)?, ..dial(s, to, diags)? };
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: false, expect_hostname: true, local: true };
    let reading = Reading::whole_messages(s, cx, &defaults, diags);
    cx.scope.sets(TOPIC);
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("mqtt_sd({described})"));
    let plan = plan(s, filters, reading.persist_name.as_deref());
    let start = MqttStart {
        dial: Arc::new(dial),
        plan: Arc::new(plan),
        pause_max: s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)),
        encoding: reading.encoding,
        window_messages: reading.window_messages,
        host: Arc::clone(&reading.local_name),
        group: cx.group.into(),
    };
    let opened_with = start.described();
    let (syslog, finish) = (reading.syslog.clone(), reading.finish.clone());
    Ok(SourceDriver {
        key,
        opened_with,
        driver: "mqtt",
        instance: described,
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::new(syslog.clone(), finish.clone(), program)),
        start: Box::new(start),
    })
}

fn filters(s: &Settings, diags: &mut Diagnostics) -> Result<Vec<String>, Reported> {
    let mut filters = Vec::new();
    for filter in s.list("topic") {
        if !is_filter(&filter.text) {
            let text = format!("`{}` is nothing that can be subscribed to", filter.text);
            let finding = Diagnostic::error("D0302", text, filter.span);
            diags.push(finding.help("`+` stands for a whole level, `#` for all that follow, at the end"));
            return Err(Reported);
        }
        filters.push(filter.text.clone());
    }
    if filters.is_empty() {
        let finding =
            Diagnostic::error("D0302", "mqtt() does not say which topics", s.call_span().ok_or(Reported)?);
        diags.push(finding.help("add `topic(\"syslog/#\")`"));
        return Err(Reported);
    }
    Ok(filters)
}

fn plan(s: &Settings, filters: Vec<String>, named: Option<&str>) -> Subscription {
    let client_id = match (s.text("client-id"), named) {
        (Some(id), _) | (None, Some(id)) => id.to_owned(),
        (None, None) => format!("syslog-ng-source-{}", filters.join("-")),
    };
    Subscription {
        version: version(s),
        client_id,
        login: login(s),
        keep_alive: keep_alive(s),
        quality: quality(s),
        filters,
        is_clean: s.bool("cleansession").unwrap_or(false),
    }
}

struct MqttStart {
    dial: Arc<Dial>,
    plan: Arc<Subscription>,
    pause_max: Duration,
    encoding: Option<conf_schema::Encoding>,
    window_messages: Option<usize>,
    host: Arc<str>,
    group: Arc<str>,
}

impl MqttStart {
    /// Differs where the subscription has to begin anew.
    fn described(&self) -> String {
        let encoding = self.encoding.map(|encoding| encoding.name());
        format!(
            "{} {} {:?} {:?} {encoding:?} {:?} {}",
            self.group,
            self.dial.described(),
            self.plan,
            self.pause_max,
            self.window_messages,
            self.host
        )
    }
}

impl Start for MqttStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let parts = Parts {
            dial: Arc::clone(&self.dial),
            plan: Arc::clone(&self.plan),
            pause_max: self.pause_max,
            encoding: self.encoding,
            topic: record::intern(TOPIC),
            window_messages: self.window_messages,
            context: Arc::new(record::Context::local(&self.group, &self.host, "local+mqtt")),
            source: Arc::clone(source),
        };
        worker.add(move |token, cx| Ok(Box::new(MqttPort::new(parts, cx, token))));
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}
