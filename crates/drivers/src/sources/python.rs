//! `python()` and `python-fetcher()`: messages that a class of the user's own makes, in a process beside the
//! program.

mod messages;
mod port;

use conf_schema::{Component, Context, Cost, Kind as OptionKind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::SECONDS_MAX;
use driver_options::source_groups::{MESSAGE_FORMAT, READER_FLAGS, SOURCE};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use intake::reading::{Defaults, Reading};
use messages::Making;
use parking_lot::Mutex;
use parsers::python::CLASS;
use port::{Parts, PythonPort};
use python::{Identity, Instance, Kind, Producer};
use std::sync::Arc;
use std::time::Duration;
use wire::Framing;

pub const PARTS: &[SourcePart] =
    &[SourcePart::new(&PYTHON, build_source), SourcePart::new(&FETCHER, build_fetcher)];

const TIME_REOPEN: Opt = Opt::new(
    "time-reopen",
    OptionKind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Global("time-reopen"),
    "Seconds until a process that has ended is started again, and until a fetcher that is not connected opens again.",
);

static PYTHON: Component = Component {
    context: Context::Source,
    name: "python",
    aliases: &[],
    positional: &[],
    groups: &[&CLASS, &MESSAGE_FORMAT, &READER_FLAGS, &SOURCE],
    own: &[TIME_REOPEN],
    presets: &[],
    not_yet: &[],
    summary: "A source of your own in Python: a class with a method `run(self)` that posts messages, in a process beside the program. When \
              the program takes no more, it waits; what became of its messages an ack tracker tells it. See docs/python.md.",
    example: "python(class(\"MySource\") options(\"url\" => \"https://example.com\"))",
    cost: Some(Cost::elsewhere("Each message a dictionary, up to 500 at a time from the process.")),
};

static FETCHER: Component = Component {
    context: Context::Source,
    name: "python-fetcher",
    aliases: &[],
    positional: &[],
    groups: &[&CLASS, &MESSAGE_FORMAT, &READER_FLAGS, &SOURCE],
    own: &[
        TIME_REOPEN,
        Opt::new(
            "fetch-no-data-delay",
            OptionKind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Described("time-reopen() of the options"),
            "Seconds until it is asked again after there was nothing.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "A source of your own in Python that is asked for one message after the other: a class with a method `fetch(self)`, in a \
              process beside the program. See docs/python.md.",
    example: "python-fetcher(class(\"MyFetcher\") fetch-no-data-delay(5))",
    cost: Some(Cost::elsewhere("Each message a dictionary, up to 500 at a time from the process.")),
};

fn build_source(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build("python", Kind::Source, s, cx, diags)
}

fn build_fetcher(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build("python-fetcher", Kind::Fetcher, s, cx, diags)
}

fn build(
    driver: &'static str,
    kind: Kind,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: true, expect_hostname: true, local: false };
    let reading = Reading::whole_messages(s, cx, &defaults, diags);
    let class = s.text("class").unwrap_or_default().to_owned();
    if class.is_empty() {
        let finding =
            Diagnostic::error("D0200", format!("{driver}() needs class()"), s.call_span().ok_or(Reported)?);
        diags.push(finding.help("as class(\"module.Class\")"));
        return Err(Reported);
    }
    let key = s.text("persist-name").map_or_else(|| format!("{driver}({class})"), str::to_owned);
    let identity = Identity {
        kind,
        class: class.clone(),
        options: parsers::python::options(s, cx.version, diags).ok_or(Reported)?,
        loaders: s.list("loaders").iter().map(|text| text.text.clone()).collect(),
        place: key.clone(),
        flags: Some(messages::written(&reading.syslog.flags)),
    };
    let described = format!("{identity:?}");
    let loaded = cx.scope.python().and_then(|pool| pool.load(identity).map_err(|fault| fault.to_string()));
    let instance = match loaded {
        Ok(instance) => instance,
        Err(trace) => {
            let text = format!("the class `{class}` cannot be used: {}", trace.trim_end());
            diags.push(Diagnostic::error("D0200", text, s.span("class").ok_or(Reported)?).help(
                "modules are looked for in `python/` beside the configuration, /etc/syslog-ng/python, /etc/syslog-ng/pylib and PYTHONPATH",
            ));
            return Err(Reported);
        }
    };
    let reopen = s.seconds("time-reopen").unwrap_or(Duration::from_secs(60));
    let general = cx.globals.seconds("time-reopen").unwrap_or(Duration::from_secs(60));
    let no_data = match kind {
        Kind::Fetcher => s.seconds("fetch-no-data-delay").unwrap_or(general),
        _ => general,
    };
    let start = PythonStart {
        instance: Arc::clone(&instance),
        pauses: (reopen, no_data),
        window_messages: reading.window_messages,
        making: Arc::new(Making {
            context: Arc::new(record::Context::local(cx.group, &reading.local_name, "local+python")),
            host: Arc::clone(&reading.local_name),
            templates: cx.global_template_options(),
            identity: cx.identity.clone(),
            encoding: reading.encoding,
            syslog: reading.syslog,
        }),
    };
    let finish = reading.finish;
    // Another instance: a block or a module has changed.
    let opened_with = format!(
        "{} {described} {} {:?} {:?} {} {:?}",
        cx.group,
        instance.number(),
        start.pauses,
        start.window_messages,
        start.making.described(),
        // Of this one the options of parsing say only that it is given.
        cx.globals.text("bad-hostname")
    );
    Ok(SourceDriver {
        key,
        opened_with,
        driver,
        instance: class,
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program)),
        start: Box::new(start),
    })
}

struct PythonStart {
    instance: Arc<Instance>,
    pauses: (Duration, Duration),
    window_messages: Option<usize>,
    making: Arc<Making>,
}

impl Start for PythonStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let producer = Producer::start(&self.instance, self.pauses).map_err(|fault| {
            Fault::misconfigured(format!("{}({}): {fault}", source.driver, self.instance.class()))
        })?;
        let parts = Parts {
            instance: Arc::clone(&self.instance),
            pauses: self.pauses,
            window_messages: self.window_messages,
            making: Arc::clone(&self.making),
            source: Arc::clone(source),
            started: Arc::new(Mutex::new(Some(Ok(producer)))),
        };
        worker.add(move |token, cx| Ok(Box::new(PythonPort::new(parts, cx, token))));
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}
