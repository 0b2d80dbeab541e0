//! `riemann()`: messages as events of Riemann.

mod table;

use conf_schema::Settings;
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::{Reading, pairs, ports, secure};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use riemann_client::{Clock, Plan, Shape, Transport, load, serve};
use std::sync::Arc;
use std::time::Duration;
use template::Template;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::RIEMANN, build)];

/// Events of a batch when batch-lines() does not say.
const LINES: usize = 1000;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0305", diags };
    let mut batching = Batching::read(&mut r)?;
    if batching.limits.lines == 0 && batching.limits.bytes == 0 {
        batching.limits.lines = LINES;
    }
    let (mut fields, clock) = fields(&mut r)?;
    let tags = tags(&mut r)?;
    let shape = Shape { clock, tags: tags.len(), has_attributes: s.is_set("attributes") };
    fields.extend(tags);
    let attributes = pairs::read("attributes", &[], &mut r)?;
    let description = r.template_or("description", "")?;
    let plan = Arc::new(plan(&mut r)?);
    let mut writer = Writer::new(description, cx.identity);
    writer.parts = Some(Fields::with_pairs(fields, attributes.into_iter().collect()));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{}", plan.host, plan.port);
    let key = writing::key(s, &mut writer, || format!("riemann({address})"));
    batching.limits.answer = Some(plan.patience);
    let make =
        guest::sinks(cx.id(), move |part| load(&shape, part), move |jobs| serve(Arc::clone(&plan), jobs));
    let described = ("riemann", format!("riemann,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// What stands in front of tags and attributes, in the order of [`Shape`].
fn fields(r: &mut Reading<'_>) -> Result<(Vec<Arc<Template>>, Clock), Reported> {
    let (host, service) = (r.template_or("host", "${HOST}")?, r.template_or("service", "${PROGRAM}")?);
    let (state, ttl) = (r.template_or("state", "")?, r.template_or("ttl", "")?);
    let metric = r.template_or("metric", "")?;
    let (time, at, clock) = match r.s.list("event-time") {
        [] => ("${UNIXTIME}", r.call_span()?, Clock::Seconds),
        [time] => (time.text.as_str(), time.span, Clock::Seconds),
        [time, unit] if unit.text == "seconds" => (time.text.as_str(), time.span, Clock::Seconds),
        [time, unit] if unit.text == "microseconds" => (time.text.as_str(), time.span, Clock::Microseconds),
        _ => {
            let help = "write `event-time(\"${UNIXTIME}\" seconds)` or `microseconds`";
            return r.wrong("event-time", "event-time() has a template and a unit", help);
        }
    };
    let time = r.compile(time, at)?;
    Ok((vec![host, service, time, state, ttl, metric], clock))
}

/// A field for each; those of the message where none is given.
fn tags(r: &mut Reading<'_>) -> Result<Vec<Arc<Template>>, Reported> {
    let tags = r.template_list("tags")?;
    if r.s.is_set("tags") {
        return Ok(tags);
    }
    Ok(vec![r.own_template("${TAGS}")?])
}

fn plan(r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    let kind = s.choice("type").unwrap_or("tcp");
    if kind != "tls" && s.block("tls").is_some() {
        let help = "write `type(\"tls\")`";
        return r.wrong("tls", format!("tls() is given, and type({kind}) sends in the clear"), help);
    }
    let asked = secure::read_client(s, kind == "tls", r.diags)?;
    let transport = match (kind, asked) {
        (_, Some(options)) => Transport::Tls(Box::new(options)),
        ("udp", None) => Transport::Udp,
        _ => Transport::Tcp,
    };
    let patience =
        s.seconds("timeout").filter(|timeout| !timeout.is_zero()).unwrap_or(Duration::from_secs(10));
    Ok(Plan {
        host: s.text("server").unwrap_or("127.0.0.1").to_owned(),
        port: ports::port(s, "port", kind == "udp", r.diags)?,
        transport,
        patience,
    })
}
