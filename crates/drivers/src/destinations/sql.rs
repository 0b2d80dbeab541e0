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
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Shared, Sink};
use flight::Limits;
use guest::{Caller, Line};
use reading::Kind;
use sql_client::shape::Id;
use sql_client::{Cursor, HowFar, Load, Mysql, Offsets, Postgres, Shape, Shapes, Sqlite, load, serve};
use std::sync::{Arc, OnceLock};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::SQL, build).needing(reading::needs)];

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0180", diags };
    let mut batching = Batching::read(&mut r)?;
    let reading::Target { kind, login, plan, has_places, mut writer, address } = reading::read(&mut r)?;
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    // Rows that wait are those of these columns.
    let columns = plan.listed();
    let key = writing::key(s, &mut writer, || format!("sql({address},{columns})"));
    let offsets = offsets(has_places, batching.workers, &mut r)?;
    let known: Arc<OnceLock<Arc<Cursor>>> = Arc::default();
    let queue = exactly_once(&writer, batching.workers, &mut r)?.then(|| disk_buffer::of(&writer)).flatten();
    batching.limits.numbered = queue.is_some();
    let shape = Shape::of(&plan);
    let (keep, shapes) = kept_shapes();
    let recalled = Arc::clone(&known);
    batching.prepare = Some(Box::new(move |shared| {
        keep(shared, &shape);
        let Some(queue) = &queue else { return Ok(()) };
        let positions = Positions::recall(shared, queue)?;
        let (name, run) = (positions.name.clone(), positions.run);
        let is_own = Box::new(move |run| positions.is_own(run));
        let _ = recalled.set(Arc::new(Cursor { name, run, is_own }));
        Ok(())
    }));
    let (plan, login) = (Arc::new(plan), Arc::new(login));
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let caller = Caller::at(&place);
        let (plan, login, shapes) = (Arc::clone(&plan), Arc::clone(&login), Arc::clone(&shapes));
        let kept = match (known.get(), &offsets) {
            (Some(cursor), _) => HowFar::Queue(Arc::clone(cursor)),
            (None, Some(offsets)) => HowFar::Offsets(Arc::clone(offsets)),
            (None, None) => HowFar::Nowhere,
        };
        let away = limits.away;
        let line: Line<Load> = match kind {
            Kind::Postgres => Line::open(caller, &name, away, load, move |jobs| {
                let server = Postgres::new(Arc::clone(&plan), Arc::clone(&login));
                serve(Arc::clone(&plan), Arc::clone(&shapes), kept.clone(), server, jobs)
            }),
            Kind::Mysql => Line::open(caller, &name, away, load, move |jobs| {
                let server = Mysql::new(Arc::clone(&plan), Arc::clone(&login));
                serve(Arc::clone(&plan), Arc::clone(&shapes), kept.clone(), server, jobs)
            }),
            Kind::Sqlite => Line::open(caller, &name, away, load, move |jobs| {
                let server = Sqlite::new(Arc::clone(&plan), Arc::clone(&login));
                serve(Arc::clone(&plan), Arc::clone(&shapes), kept.clone(), server, jobs)
            }),
        };
        line.sink(limits, &place.counters)
    });
    let described = ("sql", format!("sql,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// In front of the id of a shape, in the state file.
const SHAPE: &str = "sql-rows/";

/// Keeps for which columns rows are made, and knows those of what waits from before.
fn kept_shapes() -> (impl Fn(&Shared, &Shape) + Send + Sync, Shapes) {
    let name = |id: &Id| [SHAPE.as_bytes(), id].concat();
    let store = Arc::new(OnceLock::new());
    let known = Arc::clone(&store);
    let keep = move |shared: &Shared, shape: &Shape| {
        let (name, value) = (name(&shape.id()), shape.encode());
        if shared.state().get(&name).as_ref() != Some(&value) {
            shared.state().put(&name, &value);
        }
        let _ = store.set(Arc::clone(shared.state()));
    };
    (keep, Arc::new(move |id: &Id| Shape::decode(&known.get()?.get(&name(id))?)))
}

/// Where it is kept what the sequences have reached that messages come from, if that is asked for.
fn offsets(has_places: bool, workers: usize, r: &mut Reading<'_>) -> Result<Option<Arc<Offsets>>, Reported> {
    if !has_places {
        return Ok(None);
    }
    if r.s.bool("exactly-once").unwrap_or(false) {
        let text = "exactly-once(yes) knows by its queue what comes again, and offsets() by the source";
        return r.wrong("offsets", text, "leave one of them out");
    }
    if workers > 1 {
        let text = "offsets() needs what comes from one sequence in its order, and several workers share it";
        return r.wrong("offsets", text, "leave workers() out, and start more collectors instead");
    }
    // The same on every machine of the group.
    let name = r.s.text("persist-name").map_or_else(|| r.cx.id(), str::to_owned);
    Ok(Some(Arc::new(Offsets::of(&name))))
}

/// Whether it is asked for, and can be had.
fn exactly_once(writer: &Writer, workers: usize, r: &mut Reading<'_>) -> Result<bool, Reported> {
    if !r.s.bool("exactly-once").unwrap_or(false) {
        return Ok(false);
    }
    let (text, help) = match &writer.disk_buffer {
        Some(queue) if queue.reliable && workers == 1 => return Ok(true),
        Some(queue) if queue.reliable => {
            ("exactly-once(yes) keeps one position, and there are several workers", "leave workers() out")
        }
        _ => (
            "exactly-once(yes) keeps a position in a queue on disk",
            "add `disk-buffer(reliable(yes) capacity-bytes(1GiB))`",
        ),
    };
    r.wrong("exactly-once", text, help)
}
