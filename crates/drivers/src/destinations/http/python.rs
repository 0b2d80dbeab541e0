//! `python-http-header()`: headers that a class of the user's own makes for each request.

use conf_schema::{Group, Kind as OptionKind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use diag::{Diagnostic, Diagnostics};
use engine::driver::BuildContext;
use flight::Outcome;
use http_client::Extra;
use parsers::python::CLASS;
use python::{Fault, Headers, Identity, Kind};
use std::sync::Arc;

static CRITICAL: Group = Group {
    name: "errors",
    options: &[Opt::new(
        "mark-errors-as-critical",
        OptionKind::Bool,
        Preset::Bool(true),
        "With `yes` a request for which the class raises is not sent: its messages wait, and the class is asked again after time-reopen(). With \
         `no` it is sent without these headers.",
    )],
};

pub static HEADERS: Group = Group {
    name: "headers made in Python",
    options: &[Opt::new(
        "python-http-header",
        OptionKind::Block(&[&CLASS, &CRITICAL]),
        Preset::None,
        "A class with a method `get_headers(self, body, headers)` that returns a list of further headers, `\"Name: value\"` each, for every \
         request. Its constructor gets options(); `on_http_response_received(self, http_code)` hears how requests were answered. One object, in a \
         process beside the program, serves all workers. Given several times, they are asked in their order. See docs/python.md.",
    )
    .collects()],
};

struct Made {
    headers: Arc<Headers>,
    /// Without these headers nothing is sent.
    is_critical: bool,
}

impl Extra for Made {
    fn headers(&self, body: &[u8], headers: &[String]) -> Result<Vec<String>, Outcome> {
        let fault = match self.headers.make(body, headers) {
            Ok(made) => return Ok(made),
            Err(fault) => fault,
        };
        if self.is_critical {
            let why = format!("python-http-header({}): {fault}", self.headers.class());
            return Err(if fault.is_fatal() { Outcome::Away(why) } else { Outcome::Hold(why) });
        }
        self.say("A request is sent without the headers of a Python class", &fault);
        Ok(Vec::new())
    }

    fn answered(&self, status: u16) {
        if let Err(fault) = self.headers.answered(status) {
            self.say("A Python class does not hear how a request was answered", &fault);
        }
    }
}

impl Made {
    fn say(&self, text: &'static str, fault: &Fault) {
        let class = self.headers.class();
        oplog::limited(
            "python.headers",
            oplog::Level::Warning,
            text,
            &[("class", &class), ("reason", fault)],
        );
    }
}

/// The classes that an `http()` names, in their order; their objects are made when it starts.
pub fn read(
    s: &Settings,
    batching: &mut Batching,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<Vec<Arc<dyn Extra>>> {
    let (mut extras, mut begun): (Vec<Arc<dyn Extra>>, Vec<Arc<Headers>>) = Default::default();
    for (at, block) in s.blocks("python-http-header").iter().enumerate() {
        let headers = Arc::new(class(block, &format!("{} {at}", cx.id()), cx, diags)?);
        let is_critical = block.bool("mark-errors-as-critical").unwrap_or(true);
        extras.push(Arc::new(Made { headers: Arc::clone(&headers), is_critical }));
        begun.push(headers);
    }
    if !begun.is_empty() {
        batching.prepare = Some(Box::new(move |_| {
            begun.iter().try_for_each(|headers| {
                headers.begin().map_err(|fault| {
                    diag::Fault::misconfigured(format!("python-http-header({}): {fault}", headers.class()))
                })
            })
        }));
    }
    Some(extras)
}

fn class(block: &Settings, place: &str, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<Headers> {
    let options = parsers::python::options(block, cx.version, diags)?;
    let Some(class) = block.text("class") else {
        let finding = Diagnostic::error("D0200", "python-http-header() needs class()", block.call_span()?);
        diags.push(finding.help("as class(\"module.Class\")"));
        return None;
    };
    let identity = Identity {
        kind: Kind::Headers,
        class: class.to_owned(),
        options,
        loaders: block.list("loaders").iter().map(|text| text.text.clone()).collect(),
        place: place.to_owned(),
        flags: None,
    };
    let loaded = cx.scope.python().and_then(|pool| pool.load(identity).map_err(|fault| fault.to_string()));
    match loaded {
        Ok(instance) => Some(Headers::new(instance)),
        Err(trace) => {
            let text = format!("the class `{class}` cannot be used: {}", trace.trim_end());
            diags.push(Diagnostic::error("D0200", text, block.span("class")?).help(
                "modules are looked for in `python/` beside the configuration, /etc/syslog-ng/python, /etc/syslog-ng/pylib and PYTHONPATH",
            ));
            None
        }
    }
}
