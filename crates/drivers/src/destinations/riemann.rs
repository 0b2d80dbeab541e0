//! `riemann()`: messages as events of Riemann.

mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use driver_options::templates::compile;
use driver_options::{pairs, ports, secure};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use guest::{Line, Seat};
use riemann_client::{Clock, Load, Plan, Shape, Transport, load, serve};
use std::sync::Arc;
use std::time::Duration;
use template::{Template, TemplateOptions};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::RIEMANN, build)];

/// Events of a batch when batch-lines() does not say.
const LINES: usize = 1000;

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    if batching.limits.lines == 0 && batching.limits.bytes == 0 {
        batching.limits.lines = LINES;
    }
    let (mut fields, clock) = fields(s, &options, cx, diags)?;
    let tags = tags(s, &options, cx, diags)?;
    let shape = Shape { clock, tags: tags.len(), has_attributes: s.is_set("attributes") };
    fields.extend(tags);
    let attributes = pairs::read((s, "attributes"), &[], &options, cx, diags).ok()?;
    let description = match s.template("description") {
        Some(text) => compile(&text.text, text.span, &options, cx, diags)?,
        None => compile("", s.call_span()?, &options, cx, diags)?,
    };
    let plan = Arc::new(plan(s, diags)?);
    let mut writer = Writer::new(description, cx.identity);
    writer.parts = Some(Fields::with_pairs(fields, attributes.into_iter().collect()));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = format!("{},{}", plan.host, plan.port);
    let key = writing::key(s, &mut writer, || format!("riemann({address})"));
    batching.limits.answer = Some(plan.patience);
    let id = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let plan = Arc::clone(&plan);
        let load = move |part: &flight::Part<'_>| load(&shape, part);
        let line: Line<Load> =
            Line::open(seat, &id, limits.away, load, move |jobs| serve(Arc::clone(&plan), jobs));
        Box::new(FlightSink::new(line, limits, id.clone(), place.id, &place.counters))
    });
    let described = ("riemann", format!("riemann,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

fn wrong<T>(s: &Settings, option: &str, text: &str, help: &str, diags: &mut Diagnostics) -> Option<T> {
    let at = s.span(option).or(s.call_span())?;
    diags.push(Diagnostic::error("D0305", text.to_owned(), at).help(help.to_owned()));
    None
}

/// What stands in front of tags and attributes, in the order of [`Shape`].
fn fields(
    s: &Settings,
    options: &TemplateOptions,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<(Vec<Arc<Template>>, Clock)> {
    let mut text = |name: &str, usual: &str| match s.template(name) {
        Some(text) => compile(&text.text, text.span, options, cx, diags),
        None => compile(usual, s.call_span()?, options, cx, diags),
    };
    let (host, service) = (text("host", "${HOST}")?, text("service", "${PROGRAM}")?);
    let (state, ttl, metric) = (text("state", "")?, text("ttl", "")?, text("metric", "")?);
    let (time, at, clock) = match s.list("event-time") {
        [] => ("${UNIXTIME}", s.call_span()?, Clock::Seconds),
        [time] => (time.text.as_str(), time.span, Clock::Seconds),
        [time, unit] if unit.text == "seconds" => (time.text.as_str(), time.span, Clock::Seconds),
        [time, unit] if unit.text == "microseconds" => (time.text.as_str(), time.span, Clock::Microseconds),
        _ => {
            let help = "write `event-time(\"${UNIXTIME}\" seconds)` or `microseconds`";
            return wrong(s, "event-time", "event-time() has a template and a unit", help, diags);
        }
    };
    let time = compile(time, at, options, cx, diags)?;
    Some((vec![host, service, time, state, ttl, metric], clock))
}

/// A field for each; those of the message where none is given.
fn tags(
    s: &Settings,
    options: &TemplateOptions,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<Vec<Arc<Template>>> {
    let tags = s.list("tags");
    if !s.is_set("tags") {
        return Some(vec![compile("${TAGS}", s.call_span()?, options, cx, diags)?]);
    }
    tags.iter().map(|tag| compile(&tag.text, tag.span, options, cx, diags)).collect()
}

/// `None` after an error was reported.
fn plan(s: &Settings, diags: &mut Diagnostics) -> Option<Plan> {
    let kind = s.choice("type").unwrap_or("tcp");
    if kind != "tls" && s.block("tls").is_some() {
        let help = "write `type(\"tls\")`";
        return wrong(s, "tls", &format!("tls() is given, and type({kind}) sends in the clear"), help, diags);
    }
    let asked = secure::read_client(s, kind == "tls", diags).ok()?;
    let transport = match (kind, asked) {
        (_, Some(options)) => Transport::Tls(Box::new(options)),
        ("udp", None) => Transport::Udp,
        _ => Transport::Tcp,
    };
    let patience =
        s.seconds("timeout").filter(|timeout| !timeout.is_zero()).unwrap_or(Duration::from_secs(10));
    Some(Plan {
        host: s.text("server").unwrap_or("127.0.0.1").to_owned(),
        port: ports::port(s, "port", kind == "udp", diags)?,
        transport,
        patience,
    })
}
