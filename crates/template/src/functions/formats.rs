//! Whole formats of other programs: GELF of Graylog, CIM of Splunk, and EWMM, in which syslog-ng sends whole
//! messages to syslog-ng.

use super::pairs::json_of;
use crate::call::Call;
use crate::function::{Build, BuildFn, Function, FunctionInfo};
use crate::syntax::Text;
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, ValueType};

const fn format(
    name: &'static str,
    help: &'static str,
    build: BuildFn,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage: "",
        help,
        arity: (0, 0),
        options: &[],
        build: Build::Special(build),
        example,
        cost: Cost::of("as $(format-json) with the same values").shown_by("format-json"),
    }
}

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    format(
        "format-gelf",
        "the message for Graylog, with a zero byte at its end: header fields and values whose names begin with . or _",
        gelf,
        ("$(substr $(format-gelf) 0 17)", "{\"version\":\"1.1\","),
    ),
    format(
        "format-cim",
        "the message as JSON with the names of the Common Information Model and a newline at its end",
        cim,
        ("$(substr $(format-cim) 0 15)", "{\"@timestamp\":\""),
    ),
    format(
        "format-ewmm",
        "the whole message, with values and tags, for another penstock or syslog-ng, and a newline at its end",
        ewmm,
        ("$(substr $(format-ewmm) 0 5)", "<38>1"),
    ),
];

/// Text, an object, text.
struct Framed {
    before: Template,
    object: Box<dyn Function>,
    end: u8,
}

impl Function for Framed {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        self.before.render(msg, cx, out);
        self.object.call(msg, cx, out);
        out.push(self.end);
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.before.reads(demand);
        self.object.reads(demand);
    }
}

fn framed(
    call: &mut Call<'_>,
    before: &str,
    words: &[&str],
    leave_initial_dot: bool,
    end: u8,
) -> Result<Box<dyn Function>, TemplateError> {
    let words: Vec<Text> = words.iter().map(|word| Text::of(word)).collect();
    let object = json_of(call, &words, leave_initial_dot)?;
    let before = call.compiler.compile(&Text::of(before))?;
    call.boxed(Framed { before, object, end })
}

/// A time with a fraction is a number too, so it is not cast to a whole one. A PID that is no number is sent
/// as text.
fn gelf(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let words = [
        "--omit-empty-values",
        "--key",
        ".*",
        "--key",
        "_*",
        "version=1.1",
        "host=$HOST",
        "short_message=${MESSAGE:--}",
        "level=int($LEVEL_NUM)",
        "timestamp=double($R_UNIXTIME)",
        "_program=$PROGRAM",
        "_pid=int($PID)",
        "_facility=$FACILITY",
        "_class=${.classifier.class}",
    ];
    framed(call, "", &words, false, 0)
}

fn cim(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let words = ["--key", ".*", "--key", "_*", "--key", "*.*", "@timestamp=$R_ISODATE", "@message=$MESSAGE"];
    framed(call, "", &words, false, b'\n')
}

fn ewmm(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let mut words = vec!["--scope", "all-nv-pairs"];
    let digits = ["0*", "1*", "2*", "3*", "4*", "5*", "6*", "7*", "8*", "9*"];
    for glob in digits.into_iter().chain(["SOURCE", ".SDATA.*"]) {
        words.extend(["--exclude", glob]);
    }
    words.push("._TAGS=$TAGS");
    framed(call, "<$PRI>1 $ISODATE $LOGHOST @syslog-ng - - ${SDATA:--} ", &words, true, b'\n')
}
