//! `stats-exporter()`: statistics for scrapers such as Prometheus, over HTTP. Each request is a message too.

mod handler;

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Settings, Word};
use control::render::{Format, Pattern};
use control::request::{Query, QueryAction, Request, Stats};
use diag::{Diagnostics, Reported};
use driver_options::SECONDS_MAX;
use driver_options::request_groups::REQUESTS;
use driver_options::secure;
use driver_options::source_groups::SOURCE;
use driver_options::tls_groups::SECURE_SOURCE;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use handler::Exporter;
use intake::requests::Asked;
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[SourcePart] =
    &[SourcePart::new(&EXPORTER, build), SourcePart::new(&SILENT_EXPORTER, build_silent)];

/// That of syslog-ng's network(), on which its own stands.
const PORT: u16 = 514;
const PATTERN: &str = "GET /metrics*";

const TYPES: &[Word] = &[
    Word::new("stats", "All statistics, as `syslog-ng-ctl stats` prints them."),
    Word::new("query", "Those that stat-query() selects, as `syslog-ng-ctl query get` prints them."),
];
const FORMATS: &[Word] = &[
    Word::new("prometheus", "Prometheus' text format."),
    Word::new("csv", "The table of `syslog-ng-ctl stats`."),
    Word::new("kv", "`name=value` lines."),
];

const GROUPS: &[&Group] = &[&REQUESTS, &SOURCE, &SECURE_SOURCE];
const PRESETS: &[(&str, Preset)] = &[("port", Preset::Int(PORT as i64))];
const OWN: &[Opt] = &[
    Opt::new("stat-type", Kind::Choice(TYPES), Preset::Text("stats"), "What is answered."),
    Opt::new(
        "stat-query",
        Kind::Text,
        Preset::Text("*"),
        "With stat-type(query): which counters, by their names; `*` is any run of characters, `?` is one.",
    )
    .sample("\"destination*\""),
    Opt::new("stat-format", Kind::Choice(FORMATS), Preset::Text("prometheus"), "In which form."),
    Opt::new(
        "stats-without-orphaned",
        Kind::Bool,
        Preset::Bool(false),
        "Leave out counters of what a reload has removed. With stat-type(stats).",
    ),
    Opt::new(
        "stats-with-legacy",
        Kind::Bool,
        Preset::Bool(false),
        "Have counters in stat-format(prometheus) too that have only an old name. With stat-type(stats).",
    ),
    Opt::new(
        "scrape-pattern",
        Kind::Text,
        Preset::Text(PATTERN),
        "How the first line of a request has to look, with `*` and `?`. Any other is answered with 404.",
    )
    .sample("\"GET /metrics*\""),
    Opt::new(
        "scrape-freq-limit",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Int(0),
        "Seconds between two answers with statistics. What comes earlier is answered with 429. 0 sets no limit.",
    ),
    Opt::new(
        "single-instance",
        Kind::Bool,
        Preset::Bool(true),
        "One connection at a time, which ends with its answer; others wait. With `no`, as many as max-connections() allows, for as long as \
         they like.",
    ),
];

static EXPORTER: Component = component(
    "stats-exporter",
    "Answers scrapers such as Prometheus with the statistics of the running program. Each request is a message of this source, its \
     head in MESSAGE; stats-exporter-dont-log() makes none. An answer never waits for what becomes of the message. See docs/console.md \
     for what the console has beside it.",
    "stats-exporter(ip(127.0.0.1) port(9577) stats-without-orphaned(yes))",
);

static SILENT_EXPORTER: Component = component(
    "stats-exporter-dont-log",
    "As stats-exporter(), and no request becomes a message.",
    "stats-exporter-dont-log(ip(127.0.0.1) port(9577))",
);

const fn component(name: &'static str, summary: &'static str, example: &'static str) -> Component {
    Component {
        context: Context::Source,
        name,
        aliases: &[],
        positional: &[],
        groups: GROUPS,
        own: OWN,
        presets: PRESETS,
        not_yet: &[],
        summary,
        example,
        cost: Some(Cost::elsewhere("Nothing but for its requests.")),
    }
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    exporter(s, cx, true, diags)
}

fn build_silent(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    exporter(s, cx, false, diags)
}

fn exporter(
    s: &Settings,
    cx: &BuildContext<'_>,
    logs: bool,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    let tls = secure::read(s, "", secure::Side::Source, diags)?;
    let mut asked = Asked::read(s, cx, PORT, tls, diags)?;
    let is_single = s.bool("single-instance").unwrap_or(true);
    if is_single {
        asked = asked.one_at_a_time();
    }
    let (request, format) = question(s);
    let pattern = s.text("scrape-pattern").unwrap_or(PATTERN).to_owned();
    let pause = s.seconds("scrape-freq-limit").unwrap_or(Duration::ZERO);
    let what = format!("{request:?} {pattern} {pause:?} {is_single} {logs}");
    let make = move |desk| {
        let exporter = Exporter {
            desk,
            request: request.clone(),
            format,
            pattern: Pattern::new(&pattern),
            pause,
            last: Default::default(),
            closes: is_single,
            logs,
        };
        Arc::new(exporter) as Arc<dyn http_server::Handler>
    };
    Ok(asked.driver(if logs { "stats-exporter" } else { "stats-exporter-dont-log" }, &what, Arc::new(make)))
}

/// What a scraper wants to know, as it would ask at the control socket, and in which form.
fn question(s: &Settings) -> (Request, Format) {
    let format = s.choice("stat-format").and_then(Format::from_name).unwrap_or(Format::Prometheus);
    let pattern = s.text("stat-query").unwrap_or("*").to_owned();
    let all = Stats {
        format,
        legacy: s.bool("stats-with-legacy").unwrap_or(false),
        without_orphaned: s.bool("stats-without-orphaned").unwrap_or(false),
        without_header: false,
    };
    let request = match s.choice("stat-type") {
        Some("query") => Request::Query(Query { action: QueryAction::Get, reset: false, format, pattern }),
        _ => Request::Stats(all),
    };
    (request, format)
}
