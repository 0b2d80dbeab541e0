//! `opentelemetry()` and `syslog-ng-otlp()`: messages as log records to a collector of OpenTelemetry, or with
//! all that is known of them to another collector of this family.

mod records;
mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::Diagnostics;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use grpc::options::Calls;
use grpc::{Load, otlp, serve};
use guest::{Line, Seat};
use records::{Kind, Records};
use std::sync::Arc;
use template::Template;

pub const PARTS: &[DestinationPart] = &[
    DestinationPart::new(&table::OPENTELEMETRY, build_records),
    DestinationPart::new(&table::SYSLOG_NG_OTLP, build_pairs),
];

const CALLS: Calls = Calls { address: ("url", "localhost:4317"), headers_from: 1, read: otlp::read_response };

fn build_records(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build("opentelemetry", Kind::Records, s, cx, diags)
}

fn build_pairs(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build("syslog-ng-otlp", Kind::Pairs, s, cx, diags)
}

fn build(
    driver: &'static str,
    kind: Kind,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    batching.limits.extra = otlp::RECORD_EXTRA_BYTES;
    let called = grpc::options::read(s, &options, &CALLS, cx, diags)?;
    batching.limits.answer = Some(called.plan.timeout);
    let empty = Template::compile("", &options, cx.scope).ok()?;
    let mut writer = Writer::new(Arc::new(empty), cx.identity);
    writer.parts = Some(Arc::new(Records::new(kind, called.headers)));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("{driver}({address})"));
    let plan = Arc::new(called.plan);
    let scope: Arc<[u8]> = match kind {
        Kind::Records => Arc::default(),
        Kind::Pairs => otlp::pair_scope(env!("CARGO_PKG_VERSION")).into(),
    };
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (plan, scope) = (Arc::clone(&plan), Arc::clone(&scope));
        let line: Line<Load> = Line::open(
            seat,
            &name,
            limits.away,
            move |part| otlp::load(part, &scope),
            move |jobs| serve(Arc::clone(&plan), jobs),
        );
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let described = (driver, format!("{driver},{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}
