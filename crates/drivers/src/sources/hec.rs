//! `hec()`: messages as Splunk's HTTP Event Collector takes them, from whatever can send to Splunk. A client
//! hears that its events are taken when everything made of them is delivered.

mod acks;
mod events;
mod handler;
mod message;
mod raw;
mod replies;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::request_groups::REQUESTS;
use driver_options::secure;
use driver_options::source_groups::SOURCE;
use driver_options::tls_groups::SECURE_SOURCE;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use handler::Collector;
use intake::requests::Asked;
use message::Names;
use std::sync::Arc;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&HEC, build)];

/// Splunk's own.
const PORT: u16 = 8088;

static HEC: Component = Component {
    context: Context::Source,
    name: "hec",
    aliases: &["splunk-hec"],
    positional: &[],
    groups: &[&REQUESTS, &SOURCE, &SECURE_SOURCE],
    own: &[
        Opt::new(
            "tokens",
            Kind::TextList,
            Preset::None,
            "What a client has to show, as `Authorization: Splunk TOKEN`. Collects.",
        )
        .alias(&["token"])
        .sample("\"0000-1111\"")
        .collects(),
        Opt::new(
            "ack",
            Kind::Bool,
            Preset::Bool(false),
            "Answer each request at once with a number, under which the client asks later what became of it (indexer acknowledgement). \
             Every client has to name a channel then. With `no` the answer itself waits until everything is delivered.",
        ),
        Opt::new(
            "prefix",
            Kind::Text,
            Preset::Text(".splunk."),
            "What stands before the names of the values `index`, `source` and `sourcetype`, and before those of the event's fields.",
        ),
    ],
    presets: &[("port", Preset::Int(PORT as i64)), ("keep-hostname", Preset::Bool(true))],
    not_yet: &[],
    summary: "Receives events as Splunk's HTTP Event Collector does: `/services/collector/event`, `/raw`, `/ack`, `/health`, packed with gzip \
              or not. The text of an event becomes MESSAGE, its host HOST, its time the time stamp, the rest values. Use \
              flags(flow-control) in the log paths, otherwise events are also dealt with when a full queue drops them. See \
              docs/hec-source.md.",
    example: "hec(port(8088) tokens(\"11111111-2222-3333-4444-555555555555\") ack(yes))",
    cost: Some(Cost::elsewhere(
        "A request costs a hand-over to a worker; each event two passes over its text.",
    )),
};

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let tls = secure::read(s, "", secure::Side::Source, diags)?;
    let asked = Asked::read(s, cx, PORT, tls, diags)?;
    let tokens: Vec<String> = s.list("tokens").iter().map(|token| token.text.clone()).collect();
    if tokens.is_empty() || tokens.iter().any(String::is_empty) {
        let finding = Diagnostic::error(
            "D0220",
            "hec() takes messages from nobody without a token",
            s.call_span().ok_or(Reported)?,
        );
        diags.push(finding.help("add tokens(\"...\"): `openssl rand -hex 16` makes one"));
        return Err(Reported);
    }
    let prefix = s.text("prefix").unwrap_or(".splunk.");
    cx.scope.sets(prefix);
    let names = Arc::new(Names::new(prefix));
    let ack = s.bool("ack").unwrap_or(false);
    let what = format!("{tokens:?} {ack} {prefix}");
    let make = move |desk| {
        let collector = Collector::new(desk, tokens.clone(), ack, Arc::clone(&names));
        Arc::new(collector) as Arc<dyn http_server::Handler>
    };
    Ok(asked.driver("hec", &what, Arc::new(make)))
}
