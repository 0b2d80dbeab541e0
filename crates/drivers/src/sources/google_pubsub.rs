//! `google-pubsub()`: messages of a subscription of Google Pub/Sub; each is acknowledged when it is dealt
//! with.

mod messages;
mod port;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::source_groups::{MESSAGE_FORMAT, READER_FLAGS, SOURCE};
use driver_options::{Reading as Options, SECONDS_MAX};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use grpc::Plan;
use grpc::options::{Caller, FETCHING};
use grpc::pubsub::Subscription;
use intake::reading::{Defaults, Reading};
use messages::Messages;
use port::{Parts, PubSubPort};
use record::Context as Origin;
use std::sync::Arc;
use std::time::Duration;
use template::TemplateOptions;
use wire::Framing;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&PUBSUB, build)];

const ENDPOINT: &str = "pubsub.googleapis.com:443";
const PREFIX: &str = ".pubsub.";
const ACK_DEADLINE: Duration = Duration::from_secs(60);
/// Messages without an answer that the server may have sent, where log-iw-size() does not say how many.
const MESSAGES_MAX: usize = 10_000;
/// Their bytes.
const BYTES_MAX: usize = 16 << 20;
/// An answer of the server. One message of Pub/Sub may have 10 MB.
const ANSWER_BYTES_MAX: usize = 24 << 20;
const ANSWER_BYTES_ARGUMENT: &str = "grpc.max_receive_message_length";

const OWN: &[Opt] = &[
    Opt::new("project", Kind::Text, Preset::None, "The project of the subscription.").sample("logs"),
    Opt::new(
        "subscription",
        Kind::Text,
        Preset::None,
        "The subscription, which has to be there and to be one that is pulled from: its name, or `projects/PROJECT/subscriptions/NAME`, \
         which needs no project().",
    )
    .sample("collector"),
    Opt::new(
        "service-endpoint",
        Kind::Text,
        Preset::Text(ENDPOINT),
        "The server, `host:port`.",
    )
    .alias(&["url"])
    .sample("\"127.0.0.1:9\""),
    Opt::new(
        "ack-deadline",
        Kind::Seconds { min: 10, max: 600 },
        Preset::Int(60),
        "How long the server waits until it sends a message again of which it hears nothing, because the collector was killed, say. While a \
         message waits here the server is asked to wait longer, so a slow destination may take any time.",
    ),
    Opt::new(
        "store-metadata",
        Kind::Bool,
        Preset::Bool(true),
        "Give each message `.pubsub.id`, `.pubsub.timestamp` (when it was published, in milliseconds since 1970), `.pubsub.ordering_key`, \
         `.pubsub.delivery_attempt` and its attributes as `.pubsub.attributes.NAME`. What no log path reads costs nothing.",
    ),
    Opt::new("prefix", Kind::Text, Preset::Text(PREFIX), "What these names begin with."),
    Opt::new(
        "time-reopen",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Global("time-reopen"),
        "The longest pause between two attempts to reach the server.",
    ),
];

static PUBSUB: Component = Component {
    context: Context::Source,
    name: "google-pubsub",
    aliases: &[],
    positional: &[],
    groups: &[&READER_FLAGS, &MESSAGE_FORMAT, &SOURCE, &FETCHING],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Reads the messages of a subscription of Google Pub/Sub, over gRPC. The data of each is read as a syslog message; \
              `flags(no-parse)` takes it whole. The server hears that a message has come when the destinations have dealt with it, and sends \
              it again until then; use flags(flow-control) in the log paths. See docs/pubsub.md.",
    example: "google-pubsub(service-endpoint(\"localhost:8085\") project(\"logs\") subscription(\"collector\") flags(no-parse))",
    cost: Some(Cost::elsewhere("A copy of each message, and its part in a call that acknowledges many.")),
};

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let templates = TemplateOptions::default();
    let mut r = Options { s, templates: &templates, cx, code: "D0251", diags };
    let name = name(&mut r)?;
    if !s.is_set("service-endpoint") && s.block("auth").is_none() && s.block("cloud-auth").is_none() {
        let text = "Google's own service wants to know who asks";
        let help = "add `auth(service-account(key(\"FILE\")))` or `cloud-auth(gcp(user-managed-service-account()))`, or service-endpoint() of another server";
        return r.wrong_at(None, text, help);
    }
    let Caller { mut plan, described: calls } =
        grpc::options::caller(("service-endpoint", ENDPOINT), &mut r)?;
    if !s.pairs("channel-args").iter().any(|pair| pair.key.text == ANSWER_BYTES_ARGUMENT) {
        plan.answer_bytes_max = ANSWER_BYTES_MAX;
    }
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: false, expect_hostname: true, local: true };
    let reading = Reading::whole_messages(s, cx, &defaults, diags);
    let metadata = s.bool("store-metadata").unwrap_or(true);
    let prefix = s.text("prefix").unwrap_or(PREFIX);
    if metadata {
        cx.scope.sets(prefix);
    }
    let authority = plan.url.authority.clone();
    let subscription = Subscription {
        messages_max: reading.window_messages.unwrap_or(MESSAGES_MAX),
        bytes_max: BYTES_MAX,
        ack_deadline: s.seconds("ack-deadline").unwrap_or(ACK_DEADLINE),
        name,
    };
    let key = reading
        .persist_name
        .clone()
        .unwrap_or_else(|| format!("google-pubsub_sd({authority},{})", subscription.name));
    let instance = format!("google-pubsub,{authority},{}", subscription.name);
    let start = PubSubStart {
        calls,
        plan: Arc::new(plan),
        subscription,
        pause_max: s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)),
        prefix: metadata.then(|| prefix.to_owned()),
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
        driver: "google-pubsub",
        instance,
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::new(syslog.clone(), finish.clone(), program)),
        start: Box::new(start),
    })
}

/// The whole name of the subscription.
fn name(r: &mut Options<'_>) -> Result<String, Reported> {
    let help = "write `project(\"PROJECT\") subscription(\"NAME\")`";
    let Some(subscription) = r.s.text("subscription") else {
        return r.wrong_at(None, "google-pubsub() does not say which subscription", help);
    };
    let project = r.s.text("project");
    let is_part = |text: &str| !text.is_empty() && !text.contains(['/', ' ']);
    let parts: Vec<&str> = subscription.split('/').collect();
    match (parts.as_slice(), project) {
        (["projects", of, "subscriptions", name], _) if is_part(of) && is_part(name) => match project {
            Some(project) if project != *of => {
                r.wrong("project", "subscription() names another project", "leave one of them out")
            }
            _ => Ok(subscription.to_owned()),
        },
        ([name], Some(project)) if is_part(name) && is_part(project) => {
            Ok(format!("projects/{project}/subscriptions/{name}"))
        }
        ([name], None) if is_part(name) => {
            r.wrong_at(None, "google-pubsub() does not say of which project the subscription is", help)
        }
        _ => r.wrong("subscription", "this is no name of a subscription", help),
    }
}

struct PubSubStart {
    /// How the server is called.
    calls: String,
    plan: Arc<Plan>,
    subscription: Subscription,
    pause_max: Duration,
    /// `None`: messages have nothing beside their text.
    prefix: Option<String>,
    encoding: Option<conf_schema::Encoding>,
    window_messages: Option<usize>,
    host: Arc<str>,
    group: Arc<str>,
}

impl PubSubStart {
    /// Differs where the subscription has to be opened anew.
    fn described(&self) -> String {
        let encoding = self.encoding.map(|encoding| encoding.name());
        format!(
            "{} {} {:?} {:?} {:?} {encoding:?} {:?} {}",
            self.group,
            self.calls,
            self.subscription,
            self.pause_max,
            self.prefix,
            self.window_messages,
            self.host
        )
    }
}

impl Start for PubSubStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let parts = Parts {
            plan: Arc::clone(&self.plan),
            subscription: self.subscription.clone(),
            pause_max: self.pause_max,
            messages: Messages::new(self.prefix.as_deref(), self.encoding),
            window_messages: self.window_messages,
            context: Arc::new(Origin::local(&self.group, &self.host, "local+pubsub")),
            source: Arc::clone(source),
        };
        worker.add(move |token, cx| Ok(Box::new(PubSubPort::new(parts, cx, token))));
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}
