//! The header of the message: PRI, STRUCTURED-DATA, and the whole in the form of RFC 5424.

use super::convert::first;
use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use crate::types::Types;
use template::{Msg, Template};
use value::{TEXT, Value};

const ANY: Form = Form::Expression;

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "set_pri",
        parameters: &[Parameter::value("pri", Types::INTEGER)],
        returns: Types::BOOLEAN,
        help: "Sets facility and severity, facility times eight plus severity: 0 to 191. Templates see it behind the block.",
        examples: &[
            ("set_pri(13)", "true"),
            ("x = 192; set_pri(x)", "error: PRI must be between 0 and 191: 192"),
        ],
        build: Build::Plain(|run, args| match first(args) {
            Value::Integer(pri @ 0..=191) => {
                if let Some(record) = run.batch.records.get_mut(run.index) {
                    record.pri = pri as u16;
                }
                Ok(Value::Boolean(true))
            }
            other => run.fail(Failure::Value("PRI must be between 0 and 191", other)),
        }),
    },
    Function {
        name: "has_sdata",
        parameters: &[],
        returns: Types::BOOLEAN,
        help: "Whether the message has STRUCTURED-DATA. What the block itself sets is not seen yet.",
        examples: &[("has_sdata()", "false")],
        build: Build::Made(|args| sdata(args, What::Has)),
    },
    Function {
        name: "get_sdata",
        parameters: &[],
        returns: Types::DICT,
        help: "The STRUCTURED-DATA of the message: a dict of dicts by their ids. What the block itself sets is not seen yet.",
        examples: &[("get_sdata()", "{}")],
        build: Build::Made(|args| sdata(args, What::Get)),
    },
    Function {
        name: "is_sdata_from_enterprise",
        parameters: &[Parameter::text("number")],
        returns: Types::BOOLEAN,
        help: "Whether an element of the STRUCTURED-DATA has an id of this enterprise, or of one whose number begins so.",
        examples: &[("is_sdata_from_enterprise(\"6876\")", "false")],
        build: Build::Made(|args| {
            let number = args.text(0, "")?;
            let mark = [b"@", number.as_slice()].concat();
            sdata(args, What::From(mark))
        }),
    },
    Function {
        name: "format_syslog_5424",
        parameters: &[
            Parameter::value("message", Types::ANY),
            Parameter::named("add_octet_count", Form::Flag, "false"),
            Parameter::named("pri", ANY, "of the message"),
            Parameter::named("timestamp", ANY, "of the message"),
            Parameter::named("host", ANY, "of the message"),
            Parameter::named("program", ANY, "of the message"),
            Parameter::named("pid", ANY, "of the message"),
            Parameter::named("msgid", ANY, "of the message"),
        ],
        returns: Types::STRING,
        help: "A line of RFC 5424, with a newline. Parts that are not given are the message's own; what is empty or errors is `-`.",
        examples: &[(
            "format_syslog_5424($MSG, timestamp=datetime(0), host=\"web\", pid=nosuch)",
            "\"<38>1 1970-01-01T00:00:00.000000+00:00 web app - - - hello world\\n\"",
        )],
        build: Build::Made(format),
    },
];

enum What {
    Has,
    Get,
    From(Vec<u8>),
}

struct Sdata {
    text: Box<Template>,
    what: What,
}

fn compiled(args: &mut Arguments<'_, '_>, text: &str) -> Option<Box<Template>> {
    match args.compiler.own_template(text) {
        Some(Expr::Template(template)) => Some(template),
        _ => None,
    }
}

fn sdata(args: &mut Arguments<'_, '_>, what: What) -> Option<Expr> {
    let text = compiled(args, "$SDATA")?;
    args.made(Sdata { text, what })
}

fn rendered(run: &mut Run<'_>, template: &Template) -> Vec<u8> {
    let mut out = run.cx.work.text();
    if let Some(record) = run.seen() {
        template.render(Msg { batch: run.batch, record: &record }, &mut run.cx.render, &mut out);
    }
    out
}

impl Operation for Sdata {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = rendered(run, &self.text);
        let result = match &self.what {
            What::Has => Ok(Value::Boolean(text.first() == Some(&b'['))),
            What::From(mark) => {
                let found = wire::sdata::params(&text).any(|param| {
                    memchr::memrchr(b'@', param.id)
                        .is_some_and(|at| param.id.get(at..).unwrap_or_default().starts_with(mark))
                });
                Ok(Value::Boolean(found))
            }
            What::Get => get(run, &text),
        };
        run.cx.work.keep_text(text);
        result
    }
}

fn get(run: &mut Run<'_>, text: &[u8]) -> Eval {
    let all = run.new_dict()?;
    let mut last: (Vec<u8>, Option<value::Node>) = (Vec::new(), None);
    let mut buffer = Vec::new();
    for param in wire::sdata::params(text) {
        let element = match last.1.filter(|_| last.0 == param.id) {
            Some(element) => element,
            None => {
                let element = run.new_dict()?;
                run.set_text(all, param.id, Value::Dict(element))?;
                last = (param.id.to_vec(), Some(element));
                element
            }
        };
        if !param.name.is_empty() {
            let value = wire::sdata::unescape(param.value, &mut buffer).to_vec();
            let value = run.string(&value)?;
            run.set_text(element, param.name, value)?;
        }
    }
    Ok(Value::Dict(all))
}

struct Format {
    message: Expr,
    count: bool,
    parts: Vec<Part>,
    sdata: Box<Template>,
}

enum Part {
    Given(Expr),
    Own(Box<Template>),
}

fn format(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let message = args.value(0);
    let count = args.flag(1, false)?;
    let own = ["$PRI", "$ISODATE", "$HOST", "$PROGRAM", "$PID", "$MSGID"];
    let mut parts = Vec::new();
    for (at, own) in own.iter().enumerate() {
        parts.push(match args.ast(at + 2).cloned() {
            Some(written) => Part::Given(args.expr(&written)?),
            None => Part::Own(compiled(args, own)?),
        });
    }
    let sdata = compiled(args, "$SDATA")?;
    args.made(Format { message: message?, count, parts, sdata })
}

impl Format {
    fn part(&self, run: &mut Run<'_>, part: &Part, out: &mut Vec<u8>) -> Result<(), Halt> {
        let mark = out.len();
        match part {
            Part::Own(template) => {
                let text = rendered(run, template);
                out.extend_from_slice(&text);
                run.cx.work.keep_text(text);
            }
            Part::Given(expr) => match run.eval(expr) {
                Ok(value) => match value.moment() {
                    Some(at) => super::time::put_iso(at, out),
                    None => run.put(value, TEXT, out),
                },
                Err(Halt) if run.is_error() => {}
                Err(Halt) => return Err(Halt),
            },
        }
        if out.len() == mark {
            out.push(b'-');
        }
        Ok(())
    }

    fn line(&self, run: &mut Run<'_>, out: &mut Vec<u8>) -> Result<(), Halt> {
        let message = run.eval(&self.message)?;
        out.push(b'<');
        for (at, part) in self.parts.iter().enumerate() {
            match at {
                0 => {}
                1 => out.extend_from_slice(b">1 "),
                _ => out.push(b' '),
            }
            self.part(run, part, out)?;
        }
        out.push(b' ');
        let sdata = rendered(run, &self.sdata);
        out.extend_from_slice(if sdata.is_empty() { b"-" } else { &sdata });
        run.cx.work.keep_text(sdata);
        out.push(b' ');
        run.put(message, TEXT, out);
        out.push(b'\n');
        Ok(())
    }
}

impl Operation for Format {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        run.made(|run, out| {
            self.line(run, out)?;
            if self.count {
                let count = format!("{} ", out.len());
                out.splice(0..0, count.into_bytes());
            }
            Ok(())
        })
    }
}
