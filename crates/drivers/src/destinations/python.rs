//! `python()`: a class of the user's own takes the messages, in a process beside the program.

mod packed;
mod session;
mod table;

use conf_schema::Settings;
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::{Reading, pairs};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::Limits;
use guest::{Caller, Line};
use packed::{Load, Packed};
use parking_lot::Mutex;
use python::{Identity, Instance, Kind, Post};
use session::{KEPT_MAX, Session, Taking};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&table::PYTHON, build)];

/// As syslog-ng has it for this destination.
const TIME_REOPEN: Duration = Duration::from_secs(1);
/// Messages of a batch when batch-lines() does not say.
const LINES: usize = 500;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0200", diags };
    let mut batching = Batching::read(&mut r)?;
    if batching.limits.lines == 0 && batching.limits.bytes == 0 {
        batching.limits.lines = LINES;
    }
    if !s.is_set("time-reopen") {
        batching.limits.time_reopen = TIME_REOPEN;
    }
    let class = s.text("class").unwrap_or_default().to_owned();
    if class.is_empty() {
        return r.wrong_at(None, "python() needs class()", "as class(\"module.Class\")");
    }
    let pairs = pairs::read("value-pairs", &[], &mut r)?;
    let mut writer = Writer::new(r.own_template("")?, cx.identity);
    writer.parts = Some(Arc::new(Packed::default()));
    writer.numbers_all = true;
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let key = writing::key(s, &mut writer, || format!("python({class})"));
    let instance = instance(s, (&class, &key), cx, r.diags)?;
    let taking = Arc::new(Taking {
        options,
        globals: cx.global_template_options(),
        identity: cx.identity.clone(),
        pairs,
        retries: batching.limits.retries,
        pause: batching.limits.time_reopen,
    });
    // The process of the first worker is there when the program starts: what its init() says is known then.
    let first: Arc<Mutex<Option<Post>>> = Arc::default();
    let (begun, beginning) = (Arc::clone(&first), Arc::clone(&instance));
    batching.prepare = Some(Box::new(move |_| {
        let post = Post::new(Arc::clone(&beginning));
        post.begin().map_err(|fault| Fault::misconfigured(format!("python({}): {fault}", post.class())))?;
        *begun.lock() = Some(post);
        Ok(())
    }));
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let (taking, instance) = (Arc::clone(&taking), Arc::clone(&instance));
        let post = Arc::new(Mutex::new(first.lock().take()));
        // One is with the class; the others are those that it keeps.
        let limits = Limits { away: KEPT_MAX + 1, ..limits };
        let line: Line<Load> =
            Line::open(Caller::at(&place), &name, limits.away, packed::load, move |jobs| {
                let post = post.lock().take().unwrap_or_else(|| Post::new(Arc::clone(&instance)));
                let session = Session::new(Arc::clone(&taking), post);
                async move { guest::on_a_thread("python-sends", move || session.serve(&jobs)).await }
            });
        line.one_after_the_other().sink(limits, &place.counters)
    });
    let described = ("python", format!("python,{}", s.text("persist-name").unwrap_or(&class)));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn instance(
    s: &Settings,
    (class, key): (&str, &str),
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<Arc<Instance>, Reported> {
    let identity = Identity {
        kind: Kind::Destination,
        class: class.to_owned(),
        options: parsers::python::options(s, cx.version, diags).ok_or(Reported)?,
        loaders: s.list("loaders").iter().map(|text| text.text.clone()).collect(),
        place: key.to_owned(),
        flags: None,
    };
    let loaded = cx.scope.python().and_then(|pool| pool.load(identity).map_err(|fault| fault.to_string()));
    match loaded {
        Ok(instance) => Ok(instance),
        Err(trace) => {
            let text = format!("the class `{class}` cannot be used: {}", trace.trim_end());
            diags.push(Diagnostic::error("D0200", text, s.span("class").ok_or(Reported)?).help(
                "modules are looked for in `python/` beside the configuration, /etc/syslog-ng/python, /etc/syslog-ng/pylib and PYTHONPATH",
            ));
            Err(Reported)
        }
    }
}
