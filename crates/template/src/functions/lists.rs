//! Template functions on lists: comma separated, items quoted where needed.

mod parts;

pub(crate) use parts::reparted;

use crate::call::Call;
use crate::facts::{int, number, put};
use crate::function::{ANY, Args, Build, Function, FunctionInfo, Plain, with_args};
use crate::list::{Items, push};
use crate::{Condition, Cost, Msg, RenderContext, Template, TemplateError};
use parts::{explode, find, implode};
use record::{Demand, ValueType};
use std::sync::Arc;

const fn plain(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    arity: (usize, usize),
    run: Plain,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage,
        help,
        arity,
        options: &[],
        build: Build::Plain(run),
        example,
        cost: Cost::LIST,
    }
}

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    plain("list-head", "LIST...", "the first item", (0, ANY), head, ("$(list-head 'a,b')", "a")),
    plain(
        "list-tail",
        "LIST...",
        "the list without its first item",
        (0, ANY),
        tail,
        ("$(list-tail 'a,b,c')", "b,c"),
    ),
    plain(
        "list-nth",
        "INDEX LIST...",
        "one item; the first is 0, the last is -1",
        (1, ANY),
        nth,
        ("$(list-nth -1 'a,b,c')", "c"),
    ),
    plain(
        "list-slice",
        "FIRST:END LIST...",
        "the items from FIRST up to, not including, END; negative numbers count from the end",
        (1, ANY),
        slice,
        ("$(list-slice 1:-1 'a,b,c,d')", "b,c"),
    ),
    plain("list-count", "LIST...", "how many items there are", (0, ANY), count, ("$(list-count 'a,b')", "2")),
    plain(
        "list-concat",
        "LIST...",
        "one list of the items of all",
        (0, ANY),
        concat,
        ("$(list-concat 'a,b' c)", "a,b,c"),
    ),
    plain(
        "list-append",
        "LIST TEXT...",
        "the list with items added at its end",
        (0, ANY),
        append,
        ("$(list-append 'a,b' 'c,d')", "a,b,\"c,d\""),
    ),
    FunctionInfo {
        name: "list-search",
        usage: "[--mode literal|prefix|substring|glob|pcre] [--start-index N] PATTERN LIST...",
        help: "the index of the first item that matches; empty when none does",
        arity: (1, ANY),
        options: &[("--mode", true), ("--start-index", true)],
        build: Build::Special(search),
        example: ("$(list-search --mode prefix b 'abc,bcd')", "1"),
        cost: Cost::LIST,
    },
    plain(
        "explode",
        "SEPARATOR TEXT...",
        "a list of the parts of a text",
        (1, ANY),
        explode,
        ("$(explode ' ' 'a b c')", "a,b,c"),
    ),
    plain(
        "implode",
        "SEPARATOR LIST...",
        "the items joined",
        (1, ANY),
        implode,
        ("$(implode - 'a,b')", "a-b"),
    ),
    FunctionInfo {
        name: "map",
        usage: "TEMPLATE LIST...",
        help: "the list of what TEMPLATE prints with each item as $_",
        arity: (1, ANY),
        options: &[],
        build: Build::Special(map),
        example: ("$(map '<$_>' 'a,b')", "<a>,<b>"),
        cost: Cost::of("the template is printed once for each item"),
    },
    FunctionInfo {
        name: "filter",
        usage: "CONDITION LIST...",
        help: "the list of the items for which the filter expression, with the item as $_, holds",
        arity: (1, ANY),
        options: &[],
        build: Build::Special(filter),
        example: ("$(filter '(\"$_\" ne \"a\")' 'a,b,c')", "b,c"),
        cost: Cost::of("the filter expression is asked once for each item"),
    },
];

/// Calls `each` with every item of the arguments from `from` on, until it says to stop.
fn items(args: Args<'_>, from: usize, mut each: impl FnMut(&[u8]) -> bool) {
    let mut buffer = Vec::new();
    for arg in args.iter().skip(from) {
        let mut items = Items::of(arg);
        while let Some(item) = items.next(&mut buffer) {
            if !each(item) {
                return;
            }
        }
    }
}

fn head(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    items(args, 0, |item| {
        out.extend_from_slice(item);
        false
    });
    ValueType::String
}

fn range(args: Args<'_>, from: usize, first: i64, end: i64, out: &mut Vec<u8>) {
    let total = length(args, from);
    let place = |n: i64| if n < 0 { n.saturating_add(total).max(0) } else { n };
    let (first, end) = (place(first), place(end));
    let (mut at, mut is_first) = (0, true);
    items(args, from, |item| {
        if (first..end).contains(&at) {
            push(item, &mut is_first, out);
        }
        at += 1;
        at < end
    });
}

fn length(args: Args<'_>, from: usize) -> i64 {
    let mut total = 0;
    items(args, from, |_| {
        total += 1;
        true
    });
    total
}

fn tail(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    range(args, 0, 1, i64::MAX, out);
    // Text, unlike the other lists: as in syslog-ng, like that of $(filter) (golden case
    // template/list-types).
    ValueType::String
}

fn nth(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    if let Some(index) = int(args.get(0)) {
        let mut left = if index < 0 { index.saturating_add(length(args, 1)) } else { index };
        items(args, 1, |item| {
            if left == 0 {
                out.extend_from_slice(item);
            }
            left = left.saturating_sub(1);
            left >= 0
        });
    }
    ValueType::String
}

fn slice(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let mut bounds = args.get(0).splitn(2, |byte| *byte == b':');
    let mut bound = |usual| match bounds.next() {
        None | Some(b"") => Some(usual),
        Some(text) => int(text),
    };
    // Nothing where a bound is no number.
    if let (Some(first), Some(end)) = (bound(0), bound(i64::MAX)) {
        range(args, 1, first, end, out);
    }
    ValueType::List
}

fn count(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    number(length(args, 0) as u64, out);
    ValueType::Int
}

fn concat(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    range(args, 0, 0, i64::MAX, out);
    ValueType::List
}

fn append(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    // What is there stays as it is written.
    let list = args.get(0);
    out.extend_from_slice(list);
    let mut needs_no_comma = list.last().is_none_or(|last| *last == b',');
    args.iter().skip(1).for_each(|text| push(text, &mut needs_no_comma, out));
    ValueType::List
}

struct Search {
    compare: Compare,
    start: usize,
    args: Box<[Template]>,
}

/// How an item is compared with the pattern.
enum Compare {
    /// With its text, printed anew for each message.
    Text(fn(&[u8], &[u8]) -> bool),
    /// With a regular expression, compiled once.
    Pattern(Box<pattern::Pattern>),
}

fn search(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let compare = match call.option("--mode").as_deref() {
        None | Some("literal") => Compare::Text(|item, pattern| item == pattern),
        Some("prefix") => Compare::Text(|item, pattern| item.starts_with(pattern)),
        Some("substring") => Compare::Text(|item, pattern| find(item, pattern).is_some()),
        Some("glob") => Compare::Text(crate::glob::matches),
        Some("pcre") => {
            // It has to match at the beginning of the item.
            let text = format!("\\A(?:{})", call.literal(0, "a regular expression")?);
            let compiled = pattern::Pattern::compile(&text, &pattern::PatternOptions::default());
            Compare::Pattern(Box::new(compiled.map_err(|error| call.error(0, error.to_string()))?))
        }
        Some(other) => return Err(call.error(0, format!("$(list-search) has no mode `{other}`"))),
    };
    let start = match call.option("--start-index") {
        None => 0,
        Some(text) => text.parse().map_err(|_| call.error(0, format!("`{text}` is no index to start at")))?,
    };
    call.boxed(Search { compare, start, args: call.templates(0)? })
}

impl Function for Search {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.args, msg, cx, |args, cx| {
            let (text, mut index) = (args.get(0), 0);
            items(args, 1, |item| {
                let found = index >= self.start
                    && match &self.compare {
                        Compare::Text(matches) => matches(item, text),
                        Compare::Pattern(pattern) => pattern.is_match(item, &mut cx.patterns.0),
                    };
                if found {
                    put(out, format_args!("{index}"));
                }
                index += 1;
                !found
            });
        });
        ValueType::Int
    }

    fn reads(&self, demand: &mut Demand) {
        self.args.iter().for_each(|arg| arg.reads(demand));
    }
}

struct Map {
    template: Template,
    lists: Box<[Template]>,
}

fn map(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    call.boxed(Map { template: call.template(0)?, lists: call.templates(1)? })
}

impl Function for Map {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let mut first = true;
        each_item(&self.lists, msg, cx, |cx| {
            let mut scratch = cx.take_scratch();
            self.template.render(msg, cx, &mut scratch.text);
            push(&scratch.text, &mut first, out);
            cx.put_back(scratch);
        });
        ValueType::List
    }

    fn reads(&self, demand: &mut Demand) {
        self.template.reads(demand);
        self.lists.iter().for_each(|list| list.reads(demand));
    }
}

struct Filter {
    condition: Arc<dyn Condition>,
    lists: Box<[Template]>,
}

fn filter(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    call.boxed(Filter { condition: call.condition(0)?, lists: call.templates(1)? })
}

impl Function for Filter {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let start = out.len();
        each_item(&self.lists, msg, cx, |cx| {
            // Unlike in other lists there are no quotes, and no comma follows another one, as in syslog-ng.
            if self.condition.holds(msg, cx)
                && let Some(item) = &cx.item
            {
                if out.len() > start && out.last() != Some(&b',') {
                    out.push(b',');
                }
                out.extend_from_slice(item);
            }
        });
        // syslog-ng says text here, so that `"$(filter ...)" != ''` asks whether any item was found.
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.condition.reads(demand);
        self.lists.iter().for_each(|list| list.reads(demand));
    }
}

/// Runs `each` with every item of the lists as `$_`; what `$_` was before comes back.
fn each_item(
    lists: &[Template],
    msg: Msg<'_>,
    cx: &mut RenderContext,
    mut each: impl FnMut(&mut RenderContext),
) {
    with_args(lists, msg, cx, |args, cx| {
        let outer = cx.item.take();
        let mut item = Vec::new();
        for arg in args.iter() {
            let mut items = Items::of(arg);
            // What is given up needs no further items: each of them would be printed in vain.
            while !cx.gave_up() && items.next_into(&mut item) {
                cx.item = Some(std::mem::take(&mut item));
                each(cx);
                item = cx.item.take().unwrap_or_default();
            }
        }
        cx.item = outer;
    });
}
