//! `http()`: batches of messages as requests to one or several servers, judged by their answers.

#[cfg(feature = "python")]
mod python;
mod reading;
mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Envelope, Keys, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{Limits, Part};
use guest::{Caller, Line};
use http_client::{Load, Plan, load, load_shared, serve};
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::HTTP, build)];

/// The most batches of an outlet that wait for acknowledgements.
const ACKS_MAX: usize = 64;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0170", diags };
    let mut batching = Batching::read(&mut r)?;
    #[cfg_attr(not(feature = "python"), expect(unused_mut))]
    let mut request = reading::read(&batching, &mut r)?;
    #[cfg(feature = "python")]
    {
        request.plan.extras = python::read(s, &mut batching, cx, r.diags).ok_or(Reported)?;
    }
    let mut writer = Writer::new(request.body, cx.identity);
    writer.parts = Keys::of(request.keys);
    (writer.envelope, writer.kin) = (Envelope::Text, Keys::KIN);
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let addresses = request.addresses;
    let key = writing::key(s, &mut writer, || format!("http({})", addresses.join(",")));
    let plan = Arc::new(request.plan);
    batching.limits.extra = plan.delimiter.len();
    batching.limits.answer = plan.timeout;
    if let Some(patience) = plan.acks {
        batching.limits.away = ACKS_MAX;
        batching.limits.answer = Some(patience + plan.timeout.unwrap_or_default());
    }
    // What is packed, or looked at by somebody else, is put together first.
    let is_sent_as_it_lies = plan.coding.is_none() && plan.extras.is_empty();
    let delimited = request.delimited.filter(|_| is_sent_as_it_lies);
    let shares = delimited.is_some_and(|template| writer.behind(template, plan.delimiter.len()));
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let (loading, serving) = (Arc::clone(&plan), Arc::clone(&plan));
        let line: Line<Load> = Line::open(
            Caller::at(&place),
            &name,
            limits.away,
            move |part| load(&loading, part),
            move |jobs| serve(Arc::clone(&serving) as Arc<Plan>, jobs),
        );
        let line = match shares {
            true => {
                let loading = Arc::clone(&plan);
                let load = move |part: &Part<'_>, pieces| load_shared(&loading, part, pieces);
                line.sharing(plan.delimiter.clone(), load)
            }
            false => line,
        };
        // Batches wait for acknowledgements side by side, and are sent one after the other.
        let line = if plan.acks.is_some() { line.one_after_the_other() } else { line };
        line.sink(limits, &place.counters)
    });
    // Counters have the first of several addresses in their names, as syslog-ng's have.
    let address = addresses.first().map_or("", String::as_str);
    let described = ("http", format!("http,{}", oplog::without_secrets(address)));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

#[cfg(test)]
mod tests;
