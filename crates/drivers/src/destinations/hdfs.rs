//! `hdfs()`: messages into files of HDFS, whose paths may be made from messages.

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
use hdfs_client::{Cluster, Load, load, readable, serve};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::HDFS, build).needing(reading::needs)];

/// The most bytes of messages that are synced together.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// At the end of the program files are closed, and moved to the archive, within this time.
const CLOSING_MAX: Duration = Duration::from_secs(10);

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0262", diags };
    let plan = reading::plan(cx.id(), &mut r)?;
    let mut writer =
        Writer::new(r.template_or("template", "${ISODATE} ${HOST} ${MSGHDR}${MSG}\n")?, cx.identity);
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let Some(path) = s.template("hdfs-file") else {
        let help = "add `hdfs-file(\"/logs/${HOST}.log\")`";
        return r.wrong("hdfs-file", "hdfs() does not say how files are called", help);
    };
    let made = compile(&path.text, path.span, &options.for_file_names(), cx, r.diags)?;
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
        let caller = Caller { home: named.home, outlet: named.id };
        let cluster = Arc::clone(&cluster);
        let name: Arc<str> = readable(&named.name).into();
        let line: Line<Load> = Line::open(caller, &id, 1, load, move |jobs| {
            serve(Arc::clone(&cluster), Arc::clone(&name), jobs)
        });
        let line = line.leaving_within(CLOSING_MAX);
        line.sink(limits.clone(), &named.counters)
    });
    let destination = FileDestination::of("hdfs", name, writer, writing::limits(s), make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}
