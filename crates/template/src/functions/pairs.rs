//! Template functions over value-pairs(): JSON, WELF, CEF, lists of names and values, lines for graphite.

use crate::budget::{RENDERED_BYTES_MAX, is_too_much};
use crate::call::Call;
use crate::function::{ANY, Build, BuildFn, Function, FunctionInfo};
use crate::json::NoObject;
use crate::value_pairs::{Layout, ValuePairs, args};
use crate::writer::{SHORT_BYTES, Writer};
use crate::{Cost, Identity, Msg, OnError, RenderContext, Template, TemplateError, escape, json, list};
use memchr::memchr;
use record::{Batch, Demand, Record, Span, ValueType};

/// The arguments of value-pairs(), as the manual prints them.
macro_rules! usage {
    ($own:literal) => {
        concat!(
            $own,
            "[--scope NAMES] [--key GLOB] [--exclude GLOB] [--rekey GLOB] [--shift N] [--shift-levels N] ",
            "[--add-prefix P] [--replace-prefix OLD=NEW] [--upper] [--lower] [--subkeys PREFIX] ",
            "[--cast|--no-cast|--auto-cast] [--omit-empty-values] [--include-bytes] [NAME=TEMPLATE...] [NAME...]"
        )
    };
}

const fn pairs(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    build: BuildFn,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage,
        help,
        arity: (0, ANY),
        options: &[],
        build: Build::Special(build),
        example,
        cost: PAIRS,
    }
}

const PAIRS: Cost = Cost::of(
    "in proportion to the values printed: which names fit is decided once for each set of names, not for each message",
)
.shown_by("format-json");

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    pairs(
        "format-json",
        usage!("[--leave-initial-dot] [--key-delimiter C] "),
        "a JSON object: names with dots become objects in one another, types are kept",
        json,
        ("$(format-json host=$HOST a.b=int(5))", "{\"host\":\"host\",\"a\":{\"b\":5}}"),
    ),
    pairs(
        "format-flat-json",
        usage!("[--leave-initial-dot] "),
        "a JSON object whose keys are the names as they are",
        flat_json,
        ("$(format-flat-json a.b=1 a.c=2)", "{\"a.c\":\"2\",\"a.b\":\"1\"}"),
    ),
    pairs(
        "format-welf",
        usage!(""),
        "`name=value` with blanks between, values with blanks in quotes",
        welf,
        ("$(format-welf a=1 'b=two words')", "a=1 b=\"two words\""),
    ),
    pairs(
        "format-cef-extension",
        usage!(""),
        "the extension of a CEF message; nothing when a name has other characters than letters and digits",
        cef,
        ("$(format-cef-extension act=blocked 'msg=a=b')", "act=blocked msg=a\\=b"),
    ),
    pairs("names", usage!(""), "a list of the names", names, ("$(names b=1 a=2)", "a,b")),
    pairs(
        "values",
        usage!(""),
        "a list of the values, in the order of their names",
        values,
        ("$(values b=1 a=2)", "2,1"),
    ),
    pairs(
        "graphite-output",
        usage!("[--timestamp TEMPLATE] "),
        "a line `name value time` for each value, the time being that of receipt unless another is given",
        graphite,
        ("$(graphite-output --timestamp 7 load.a=1 load.b=2)", "load.a 1 7\nload.b 2 7\n"),
    ),
];

struct Json {
    pairs: ValuePairs,
    /// A value that is not of its type is a text; else there is no output.
    lenient: bool,
}

impl Function for Json {
    fn constant(&self) -> Option<(Vec<u8>, ValueType)> {
        if !self.pairs.is_constant() {
            return None;
        }
        let (batch, mut cx) = (Batch::default(), RenderContext::new(Identity::new("")));
        let (msg, mut out) = (Msg { batch: &batch, record: &Record::new(Span::EMPTY) }, Vec::new());
        let kind = self.call(msg, &mut cx, &mut out);
        Some((out, kind))
    }

    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let made = self
            .pairs
            .gather(msg, cx, |plan, found| json::object(plan, found, &msg.batch.text, self.lenient, out));
        if let Some(Err(NoObject::TooLarge)) = made {
            cx.budget.give_up();
        }
        ValueType::Json
    }

    fn reads(&self, demand: &mut Demand) {
        self.pairs.reads(demand);
    }
}

/// A JSON object as other functions need it, from arguments as they would be written.
pub(super) fn json_of(
    call: &Call<'_>,
    words: &[crate::syntax::Text],
    leave_initial_dot: bool,
) -> Result<Box<dyn Function>, TemplateError> {
    let spec = args::read(words, &[], &call.compiler)?.spec;
    let layout = Layout::Json { delimiter: b'.', leave_initial_dot, flat: false };
    let pairs = ValuePairs::with_layout(spec, layout, call.options())?;
    Ok(Box::new(Json { pairs, lenient: true }))
}

fn json(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let own = &[("--leave-initial-dot", false), ("--key-delimiter", true)];
    let read = args::read(call.words(), own, &call.compiler)?;
    let mut delimiter = b'.';
    for (_, value) in read.own.iter().filter(|(name, _)| *name == "--key-delimiter") {
        let [one] = *value.bytes else {
            let text = format!("--key-delimiter takes one character, not `{}`", value.lossy());
            return Err(TemplateError::new(value.offset(0), text));
        };
        delimiter = one;
    }
    let leave_initial_dot = read.own.iter().any(|(name, _)| *name == "--leave-initial-dot");
    let layout = Layout::Json { delimiter, leave_initial_dot, flat: false };
    let pairs = ValuePairs::with_layout(read.spec, layout, call.options())?;
    call.boxed(Json { pairs, lenient: call.options().on_error == OnError::FallbackToString })
}

fn flat_json(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let read = args::read(call.words(), &[("--leave-initial-dot", false)], &call.compiler)?;
    let layout = Layout::Json { delimiter: b'.', leave_initial_dot: !read.own.is_empty(), flat: true };
    let pairs = ValuePairs::with_layout(read.spec, layout, call.options())?;
    call.boxed(Json { pairs, lenient: call.options().on_error == OnError::FallbackToString })
}

struct Assigned {
    pairs: ValuePairs,
    /// Prints a value.
    value: fn(&[u8], &mut Writer<'_>),
    /// Names must be of letters and digits.
    strict: bool,
}

fn assigned(
    call: &mut Call<'_>,
    value: fn(&[u8], &mut Writer<'_>),
    strict: bool,
) -> Result<Box<dyn Function>, TemplateError> {
    let spec = args::read(call.words(), &[], &call.compiler)?.spec;
    let pairs = ValuePairs::with_layout(spec, Layout::Assigned, call.options())?;
    call.boxed(Assigned { pairs, value, strict })
}

fn welf(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let value = |value: &[u8], to: &mut Writer<'_>| {
        let quote = memchr(b' ', value).is_some();
        if quote {
            to.byte(b'"');
        }
        match json::is_plain(value) {
            true => to.bytes(value),
            false => to.with(|out| wire::escape::binary(value, Some(b'"').filter(|_| quote), out)),
        }
        if quote {
            to.byte(b'"');
        }
    };
    assigned(call, value, false)
}

fn cef(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let value =
        |value: &[u8], to: &mut Writer<'_>| match json::is_plain(value) && memchr(b'=', value).is_none() {
            true => to.bytes(value),
            false => to.with(|out| escape::cef(value, out)),
        };
    assigned(call, value, true)
}

impl Function for Assigned {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        self.pairs.gather(msg, cx, |plan, found| {
            if self.strict && plan.has_odd_names {
                return;
            }
            let start = out.len();
            let mut to = Writer::new(out, 2 * plan.around_bytes + SHORT_BYTES);
            for ((from, end), value) in plan.values(found) {
                to.part(&plan.text, from, end);
                (self.value)(value.bytes, &mut to);
                if to.len() - start > RENDERED_BYTES_MAX {
                    break;
                }
            }
            let len = to.len();
            to.finish(len);
        });
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.pairs.reads(demand);
    }
}

struct List {
    pairs: ValuePairs,
    names: bool,
}

fn names(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let spec = args::read(call.words(), &[], &call.compiler)?.spec;
    let pairs = ValuePairs::compile(spec, call.options())?;
    call.boxed(List { pairs, names: true })
}

fn values(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let spec = args::read(call.words(), &[], &call.compiler)?.spec;
    let pairs = ValuePairs::compile(spec, call.options())?;
    call.boxed(List { pairs, names: false })
}

impl Function for List {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        self.pairs.gather(msg, cx, |plan, found| {
            let (start, mut first) = (out.len(), true);
            for (name, value) in plan.pairs(found) {
                list::push(if self.names { name.as_bytes() } else { value.bytes }, &mut first, out);
                if is_too_much(out, start) {
                    break;
                }
            }
        });
        ValueType::List
    }

    fn reads(&self, demand: &mut Demand) {
        self.pairs.reads(demand);
    }
}

struct Graphite {
    pairs: ValuePairs,
    timestamp: Template,
}

fn graphite(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let read = args::read(call.words(), &[("--timestamp", true)], &call.compiler)?;
    let timestamp = match read.own.last() {
        Some((_, text)) => call.compiler.compile(text)?,
        None => call.compiler.compile(&crate::syntax::Text::of("$R_UNIXTIME"))?,
    };
    let pairs = ValuePairs::with_layout(read.spec, Layout::Path, call.options())?;
    call.boxed(Graphite { pairs, timestamp })
}

impl Function for Graphite {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let mut scratch = cx.take_scratch();
        self.timestamp.render(msg, cx, &mut scratch.text);
        self.pairs.gather(msg, cx, |plan, found| {
            let start = out.len();
            for (name, value) in plan.pairs(found) {
                for part in [name.as_bytes(), b" ", value.bytes, b" ", &scratch.text, b"\n"] {
                    out.extend_from_slice(part);
                }
                if is_too_much(out, start) {
                    break;
                }
            }
        });
        cx.put_back(scratch);
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.timestamp.reads(demand);
        self.pairs.reads(demand);
    }
}
