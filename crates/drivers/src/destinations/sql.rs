//! `sql()`: messages as rows of a database, a batch in one transaction.

mod connection;
mod reading;
mod rows;
mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::positions::Positions;
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use guest::{Line, Seat};
use reading::Kind;
use sql_client::{Cursor, Load, Mysql, Postgres, Sqlite, load, serve};
use std::sync::{Arc, OnceLock};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::SQL, build)];

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    let reading::Target { kind, login, plan, mut writer, address } = reading::read(s, &options, cx, diags)?;
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    // Rows that wait are those of these columns.
    let columns = plan.listed();
    let key = writing::key(s, &mut writer, || format!("sql({address},{columns})"));
    let known: Arc<OnceLock<Arc<Cursor>>> = Arc::default();
    if exactly_once(s, &writer, batching.workers, diags)? {
        batching.limits.numbered = true;
        let (known, queue) = (Arc::clone(&known), disk_buffer::of(&writer));
        batching.prepare = Some(Box::new(move |shared| {
            let Some(queue) = &queue else { return Ok(()) };
            let positions = Positions::recall(shared, queue)?;
            let (name, run) = (positions.name.clone(), positions.run);
            let is_own = Box::new(move |run| positions.is_own(run));
            let _ = known.set(Arc::new(Cursor { name, run, is_own }));
            Ok(())
        }));
    }
    let (plan, login) = (Arc::new(plan), Arc::new(login));
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (plan, login, cursor) = (Arc::clone(&plan), Arc::clone(&login), known.get().cloned());
        let away = limits.away;
        let line: Line<Load> = match kind {
            Kind::Postgres => Line::open(seat, &name, away, load, move |jobs| {
                let server = Postgres::new(Arc::clone(&plan), Arc::clone(&login));
                serve(Arc::clone(&plan), cursor.clone(), server, jobs)
            }),
            Kind::Mysql => Line::open(seat, &name, away, load, move |jobs| {
                let server = Mysql::new(Arc::clone(&plan), Arc::clone(&login));
                serve(Arc::clone(&plan), cursor.clone(), server, jobs)
            }),
            Kind::Sqlite => Line::open(seat, &name, away, load, move |jobs| {
                let server = Sqlite::new(Arc::clone(&plan), Arc::clone(&login));
                serve(Arc::clone(&plan), cursor.clone(), server, jobs)
            }),
        };
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let described = ("sql", format!("sql,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

/// Whether it is asked for; `None` when it cannot be had.
fn exactly_once(s: &Settings, writer: &Writer, workers: usize, diags: &mut Diagnostics) -> Option<bool> {
    if !s.bool("exactly-once").unwrap_or(false) {
        return Some(false);
    }
    let (text, help) = match &writer.disk_buffer {
        Some(queue) if queue.reliable && workers == 1 => return Some(true),
        Some(queue) if queue.reliable => {
            ("exactly-once(yes) keeps one position, and there are several workers", "leave workers() out")
        }
        _ => (
            "exactly-once(yes) keeps a position in a queue on disk",
            "add `disk-buffer(reliable(yes) capacity-bytes(1GiB))`",
        ),
    };
    diags.push(Diagnostic::error("D0180", text, s.span("exactly-once")?).help(help));
    None
}
