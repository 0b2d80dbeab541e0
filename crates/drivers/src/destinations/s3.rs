//! `s3()`: objects made of batches, in a bucket of any server that speaks S3.

mod reading;
mod table;

use conf_schema::Settings;
use delivery::files::{FileDestination, FileName, Named};
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use driver_options::templates::compile;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::Limits;
use guest::{Caller, Line};
use s3_client::{Load, load, serve};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::S3, build)];

/// The most bytes of messages in an object: they are acknowledged together, and wait in memory until then.
const OBJECT_BYTES_MAX: usize = 16 << 20;
/// The most messages of one.
const OBJECT_MESSAGES_MAX: usize = 1_000_000;
/// Messages that wait in memory hold their sources back: they wait no longer than this for an object to
/// become full.
const GRACE_IN_MEMORY: Duration = Duration::from_secs(5);

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0261", diags };
    let plan = Arc::new(reading::plan(&mut r)?);
    let mut writer = Writer::new(r.template_or("template", "${MESSAGE}\n")?, cx.identity);
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let (key, span) = match s.template("object-key") {
        Some(key) => (key.text.clone(), key.span),
        None => {
            let text = "s3() does not say how objects are called";
            return r.wrong("object-key", text, "add `object-key(\"logs/${HOST}\")`");
        }
    };
    let stamp = s.template("object-key-timestamp").map(|stamp| stamp.text.as_str()).unwrap_or_default();
    let name = format!("{key}{stamp}");
    let made = compile(&name, span, &options.for_file_names(), cx, r.diags)?;
    let name = FileName::new(&name, made);
    let limits = limits(s, &writer);
    let address = format!("{},{},{}", plan.server.url, plan.server.bucket, name.text());
    let key = writing::key(s, &mut writer, || format!("s3({address})"));
    let id = cx.id();
    let make = Box::new(move |named: Named| -> Box<dyn Sink> {
        let caller = Caller { home: named.home, outlet: named.id };
        let (plan, before): (_, Arc<[u8]>) = (Arc::clone(&plan), named.name.into());
        let numbering = named.numbering;
        let line: Line<Load> = Line::open(caller, &id, 1, load, move |jobs| {
            // A guest that begins anew counts its objects from 0 on, under names of its own.
            let queue = format!("{:016x}", numbering.unwrap_or_else(reading::by_time));
            serve(Arc::clone(&plan), Arc::clone(&before), queue.into(), jobs)
        });
        line.sink(limits.clone(), &named.counters)
    });
    let destination = FileDestination::of("s3", name, writer, writing::limits(s), make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

/// When an object is full. What is not in memory can never be seen at once, so an object is at most half of
/// what may be there.
fn limits(s: &Settings, writer: &Writer) -> Limits {
    let asked = s.size("max-object-size").and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let minutes = s.int("flush-grace-period").and_then(|n| u64::try_from(n).ok()).unwrap_or(60);
    let grace = Duration::from_secs(minutes.max(1) * 60);
    let (grace, bytes, lines) = match &writer.disk_buffer {
        None => (grace.min(GRACE_IN_MEMORY), OBJECT_BYTES_MAX, OBJECT_MESSAGES_MAX),
        Some(queue) => {
            let half = usize::try_from(queue.capacity_bytes / 2).unwrap_or(OBJECT_BYTES_MAX);
            let lines = queue.memory_messages.map_or(OBJECT_MESSAGES_MAX, |messages| (messages / 2).max(1));
            (grace, half.min(OBJECT_BYTES_MAX), lines)
        }
    };
    Limits {
        lines,
        bytes: bytes.min(asked),
        timeout: Some(grace),
        time_reopen: writing::time_reopen(s),
        throttle: writing::throttle(s),
        answer: Some(s3_client::options::PATIENCE + Duration::from_secs(10)),
        numbered: writer.disk_buffer.is_some(),
        knows_again: writer.disk_buffer.is_some(),
        ..Limits::default()
    }
}
