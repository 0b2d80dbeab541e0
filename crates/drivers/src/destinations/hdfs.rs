//! `hdfs()`: messages into files of HDFS, whose paths may be made from messages.

mod reading;
mod table;

use conf_schema::Settings;
use delivery::files::{FileDestination, FileName, Named};
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::Diagnostics;
use driver_options::templates::compile;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use guest::{Line, Seat};
use hdfs_client::{Cluster, Load, load, readable, serve};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::HDFS, build).needing(reading::needs)];

/// The most bytes of messages that are synced together.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// At the end of the program files are closed, and moved to the archive, within this time.
const CLOSING_MAX: Duration = Duration::from_secs(10);

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let plan = reading::plan(s, cx.id(), diags)?;
    let (text, span) = match s.template("template") {
        Some(template) => (template.text.as_str(), template.span),
        None => ("${ISODATE} ${HOST} ${MSGHDR}${MSG}\n", s.call_span()?),
    };
    let mut writer = Writer::new(compile(text, span, &options, cx, diags)?, cx.identity);
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let Some(path) = s.template("hdfs-file") else {
        let help = "add `hdfs-file(\"/logs/${HOST}.log\")`";
        reading::wrong(s, "hdfs-file", "hdfs() does not say how files are called", help, diags);
        return None;
    };
    let made = compile(&path.text, path.span, &options.for_file_names(), cx, diags)?;
    let name = FileName::new(&path.text, made).cut_to(plan.name_bytes_max);
    let address = format!("{},{}", plan.uri, name.text());
    let key = writing::key(s, &mut writer, || format!("hdfs({address})"));
    let limits = Limits {
        bytes: BATCH_BYTES_MAX,
        time_reopen: writing::time_reopen(s),
        throttle: writing::throttle(s),
        answer: Some(reading::PATIENCE + Duration::from_secs(10)),
        ..Limits::default()
    };
    let (cluster, id) = (Cluster::new(plan), cx.id());
    let make = Box::new(move |named: Named| -> Box<dyn Sink> {
        let seat = Seat { home: named.home, outlet: named.id };
        let cluster = Arc::clone(&cluster);
        let name: Arc<str> = readable(&named.name).into();
        let line: Line<Load> =
            Line::open(seat, &id, 1, load, move |jobs| serve(Arc::clone(&cluster), Arc::clone(&name), jobs));
        let line = line.leaving_within(CLOSING_MAX);
        Box::new(FlightSink::new(line, limits.clone(), id.clone(), named.id, &named.counters))
    });
    let destination = FileDestination::of("hdfs", name, writer, writing::limits(s), make);
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}
