//! Regular expressions: what they find, and what is put in its place.

use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Halt, Run};
use crate::types::Types;
use pattern::{Pattern, PatternOptions, Slots};
use value::{Span, Value};

const PATTERN: Parameter = Parameter::text("pattern");

const fn flag(name: &'static str) -> Parameter {
    Parameter::named(name, Form::Flag, "false")
}

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "regexp_search",
        parameters: &[
            Parameter::form("text", Form::Expression),
            PATTERN,
            flag("keep_zero"),
            flag("list_mode"),
        ],
        returns: Types::DICT.or(Types::LIST),
        help: "What the groups of a pattern have found: a dict by the numbers and names of the groups, with `list_mode` a list. Without groups, or with \
               `keep_zero`, the whole match is \"0\". Nothing found is an empty dict, which is true: ask len() or isset().",
        examples: &[
            ("regexp_search(\"k=v\", /(\\w)=(\\w)/)", "{\"1\":\"k\",\"2\":\"v\"}"),
            ("regexp_search(\"k=v\", /(?<key>\\w)=(\\w)/)", "{\"2\":\"v\",\"key\":\"k\"}"),
            ("regexp_search(\"k=v\", /k/)", "{\"0\":\"k\"}"),
            ("regexp_search(\"k=v\", /(z)|(k)/)", "{\"2\":\"k\"}"),
            ("regexp_search(\"k=v\", /(z)|(k)/, list_mode=true)", "[null,\"k\"]"),
            ("regexp_search(\"k=v\", /zz/)", "{}"),
            ("regexp_search(\"k=v\", /(\\w)=/, keep_zero=true)", "{\"0\":\"k=\",\"1\":\"k\"}"),
        ],
        build: Build::Made(search),
    },
    Function {
        name: "regexp_subst",
        parameters: &[
            Parameter::value("text", Types::ANY),
            PATTERN,
            Parameter::text("replacement"),
            flag("global"),
            Parameter::named("jit", Form::Flag, "true"),
            flag("utf8"),
            flag("ignorecase"),
            flag("newline"),
            Parameter::named("groups", Form::Flag, "true"),
        ],
        returns: Types::ANY,
        help: "The text with the replacement for what the pattern finds: the first time, or with `global` each time. In the replacement `\\1` is what the \
               first group has found. What is no text is returned as it is.",
        examples: &[
            ("regexp_subst(\"a-b-c\", \"-\", \"+\")", "\"a+b-c\""),
            ("regexp_subst(\"a-b-c\", \"-\", \"+\", global=true)", "\"a+b+c\""),
            ("regexp_subst(\"john smith\", /(\\w+) (\\w+)/, \"\\\\2 \\\\1\")", "\"smith john\""),
            ("regexp_subst(\"abc\", /x*/, \"-\", global=true)", "\"-a-b-c-\""),
        ],
        build: Build::Made(subst),
    },
];

struct Search {
    text: Expr,
    pattern: Pattern,
    keep_zero: bool,
    list_mode: bool,
    /// Number of a group and of the text that is its key, in the order of the result.
    keys: Vec<(usize, u32)>,
    /// Several groups have one name: the last that took part counts.
    may_repeat: bool,
}

fn search(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let written = args.ast(0)?.clone();
    let text = args.expr(&written);
    let (keep_zero, list_mode) = (args.flag(2, false), args.flag(3, false));
    let options = PatternOptions { captures: true, dupnames: true, ..PatternOptions::default() };
    let pattern = compiled(args, &options)?;
    let (keep_zero, list_mode) = (keep_zero?, list_mode?);
    let names = pattern.names().to_vec();
    let first = usize::from(names.len() > 1 && !keep_zero);
    let mut keys: Vec<(usize, u32)> = Vec::new();
    let mut named: Vec<(&String, usize)> = Vec::new();
    for (group, name) in names.iter().enumerate().skip(first) {
        match name {
            Some(name) if group > 0 => named.push((name, group)),
            _ => keys.push((group, args.compiler.text(group.to_string().as_bytes()))),
        }
    }
    named.sort();
    let may_repeat = named.windows(2).any(|two| matches!(two, [a, b] if a.0 == b.0));
    keys.extend(named.into_iter().map(|(name, group)| (group, args.compiler.text(name.as_bytes()))));
    args.made(Search { text: text?, pattern, keep_zero, list_mode, keys, may_repeat })
}

/// The pattern that is the second argument.
fn compiled(args: &mut Arguments<'_, '_>, options: &PatternOptions) -> Option<Pattern> {
    let text = args.text(1, "")?;
    let at = args.ast(1)?.at;
    args.compiler.pattern(&text, options, at)
}

impl Search {
    /// Puts what the groups have found onto the stack.
    fn found(&self, run: &mut Run<'_>, span: Span, slots: &Slots) -> Result<(), Halt> {
        let group = |group: usize| {
            slots.get(group).map(|(start, end)| Span::new(span.start as usize + start, end - start))
        };
        if self.list_mode {
            let first = usize::from(self.pattern.names().len() > 1 && !self.keep_zero);
            let items = (first..self.pattern.names().len()).map(group);
            run.memory.stack.extend(items.map(|item| item.map_or(Value::Null, Value::String)));
            return Ok(());
        }
        for (number, key) in &self.keys {
            if let Some(span) = group(*number) {
                let key = run.literal_value(*key)?;
                run.memory.stack.extend_from_slice(&[key, Value::String(span)]);
            }
        }
        Ok(())
    }
}

impl Operation for Search {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.attempt(&self.text)?;
        let mark = run.memory.stack.len();
        if let Some(Value::String(span)) = text {
            let mut slots = std::mem::take(&mut run.cx.work.slots);
            let text = span.of(&run.batch.text);
            let found = self.pattern.captures(text, 0, &mut run.cx.work.patterns, &mut slots);
            let kept = if found { self.found(run, span, &slots) } else { Ok(()) };
            run.cx.work.slots = slots;
            kept?;
        }
        let node = run.node_of_stack(mark, self.may_repeat && !self.list_mode)?;
        Ok(if self.list_mode { Value::List(node) } else { Value::Dict(node) })
    }
}

struct Subst {
    text: Expr,
    pattern: Pattern,
    global: bool,
    utf8: bool,
    parts: Vec<Part>,
}

/// A part of the replacement.
enum Part {
    Text(Vec<u8>),
    /// A group, and what stands there when it has found nothing.
    Group(usize, Vec<u8>),
}

fn subst(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let text = args.value(0);
    let replacement = args.text(2, "");
    let flags: Vec<Option<bool>> = [(3, false), (4, true), (5, false), (6, false), (7, false), (8, true)]
        .map(|(at, d)| args.flag(at, d))
        .into();
    let flag = |at: usize| flags.get(at).copied().flatten();
    let (global, utf8, ignore_case) = (flag(0)?, flag(2)?, flag(3)?);
    let newline = flag(4)?;
    let options = PatternOptions {
        captures: true,
        dupnames: true,
        utf8,
        ignore_case,
        newline,
        ..PatternOptions::default()
    };
    let pattern = compiled(args, &options)?;
    let parts = parts(&replacement?, flag(5)?);
    args.made(Subst { text: text?, pattern, global, utf8, parts })
}

/// Up to three digits behind a backslash are the number of a group.
fn parts(replacement: &[u8], groups: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    let mut rest = replacement;
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.iter().take(3).take_while(|b| b.is_ascii_digit()).count();
        if *byte == b'\\' && digits > 0 && groups {
            let (number, behind) = after.split_at(digits);
            parts.push(Part::Text(std::mem::take(&mut text)));
            let group = number.iter().fold(0, |n, b| n * 10 + usize::from(b - b'0'));
            parts.push(Part::Group(group, rest.get(..=digits).unwrap_or_default().to_vec()));
            rest = behind;
        } else {
            text.push(*byte);
            rest = after;
        }
    }
    parts.push(Part::Text(text));
    parts
}

impl Subst {
    fn put(&self, text: &[u8], slots: &Slots, out: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Group(group, otherwise) => match slots.get(*group) {
                    Some((start, end)) => out.extend_from_slice(text.get(start..end).unwrap_or_default()),
                    None => out.extend_from_slice(otherwise),
                },
            }
        }
    }

    /// Bytes of the character at a place.
    fn step(&self, text: &[u8], at: usize) -> usize {
        let is_inner = |b: &u8| self.utf8 && b & 0xc0 == 0x80;
        1 + text.get(at + 1..).unwrap_or_default().iter().take(3).take_while(|b| is_inner(b)).count()
    }

    /// Appends the changed text; false when there is too much of it.
    fn change(&self, run: &mut Run<'_>, span: Span, out: &mut Vec<u8>) -> bool {
        let mut slots = std::mem::take(&mut run.cx.work.slots);
        let text = span.of(&run.batch.text);
        let (mut at, mut copied, mut last_end) = (0, 0, None);
        while at <= text.len()
            && out.len() <= crate::run::MADE_BYTES_MAX
            && self.pattern.captures(text, at, &mut run.cx.work.patterns, &mut slots)
        {
            let Some((start, end)) = slots.get(0) else { break };
            let again = start == end && last_end == Some(start);
            if !again {
                out.extend_from_slice(text.get(copied..start).unwrap_or_default());
                self.put(text, &slots, out);
                (copied, last_end) = (end, Some(end));
            }
            at = if start == end { end + self.step(text, end) } else { end };
            if !self.global {
                break;
            }
        }
        out.extend_from_slice(text.get(copied..).unwrap_or_default());
        run.cx.work.slots = slots;
        out.len() <= crate::run::MADE_BYTES_MAX
    }
}

impl Operation for Subst {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.text)?;
        let Value::String(span) = value else { return Ok(value) };
        run.made(|run, out| match self.change(run, span, out) {
            true => Ok(()),
            false => run.error("Too much text made of one message"),
        })
    }
}
