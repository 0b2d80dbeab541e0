//! `opentelemetry()` and `syslog-ng-otlp()`: messages as log records to a collector of OpenTelemetry, or with
//! all that is known of them to another collector of this family.

mod records;
mod table;

use conf_schema::Settings;
use delivery::batching::Batching;
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use grpc::options::Calls;
use grpc::{otlp, serve};
use records::{Kind, Records};
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[
    DestinationPart::new(&table::OPENTELEMETRY, build_records),
    DestinationPart::new(&table::SYSLOG_NG_OTLP, build_pairs),
];

const CALLS: Calls = Calls { address: ("url", "localhost:4317"), headers_from: 1, read: otlp::read_response };

fn build_records(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    build("opentelemetry", Kind::Records, s, cx, diags)
}

fn build_pairs(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    build("syslog-ng-otlp", Kind::Pairs, s, cx, diags)
}

fn build(
    driver: &'static str,
    kind: Kind,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0250", diags };
    let mut batching = Batching::read(&mut r)?;
    batching.limits.extra = otlp::RECORD_EXTRA_BYTES;
    let called = grpc::options::read(&CALLS, &mut r)?;
    batching.limits.answer = Some(called.plan.timeout);
    let mut writer = Writer::new(r.own_template("")?, cx.identity);
    writer.parts = Some(Arc::new(Records::new(kind, called.headers)));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("{driver}({address})"));
    let plan = Arc::new(called.plan);
    let scope: Arc<[u8]> = match kind {
        Kind::Records => Arc::default(),
        Kind::Pairs => otlp::pair_scope(env!("CARGO_PKG_VERSION")).into(),
    };
    let make = guest::sinks(
        cx.id(),
        move |part| otlp::load(part, &scope),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = (driver, format!("{driver},{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}
