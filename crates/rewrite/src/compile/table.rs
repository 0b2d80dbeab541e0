//! The rewrite operations: name, arguments, help, example, cost and what compiles it. A new one is an entry
//! here.

use super::arguments::Arguments;
use super::{groupset, header, rename, set, subst, tag, unset, zone};
use crate::group::Group;
use crate::header::Part;
use crate::op::Op;
use crate::time::Change;
use template::Cost;

/// A rewrite operation for the reference manual.
#[derive(Clone, Copy, Debug)]
pub struct OperationInfo {
    pub name: &'static str,
    pub arguments: &'static str,
    pub help: &'static str,
    pub example: Example,
    pub cost: Cost,
    /// Texts before the options: fewest and most.
    pub(super) texts: (usize, usize),
    pub(super) options: &'static [&'static str],
    pub(super) compile: fn(&mut Arguments<'_>) -> Option<Op>,
}

/// An operation on the [`template::sample`] with values, and what a template prints before and after.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub operation: &'static str,
    pub template: &'static str,
    pub before: &'static str,
    pub after: &'static str,
}

const fn example(
    operation: &'static str,
    template: &'static str,
    before: &'static str,
    after: &'static str,
) -> Example {
    Example { operation, template, before, after }
}

const VALUE: Cost =
    Cost::of("an entry of the message; a fixed text is put into the batch once for all its messages");
const VALUES: Cost =
    Cost::of("a walk over the values of the message, whose names are looked at once for the worker");
const NUMBER: Cost = Cost::of("an assignment; what a template prints is read as a name or number first");
const ZONE: Cost =
    Cost::of("the rules of the zone are asked only when they may have changed since the last message");

const fn operation_of(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    (example, cost): (Example, Cost),
    texts: (usize, usize),
    options: &'static [&'static str],
    compile: fn(&mut Arguments<'_>) -> Option<Op>,
) -> OperationInfo {
    OperationInfo { name, arguments, help, example, cost, texts, options, compile }
}

/// Options that change what the template of `set()` prints.
const TEMPLATE: [&str; 7] = [
    "ts-format",
    "frac-digits",
    "time-zone",
    "send-time-zone",
    "local-time-zone",
    "template-escape",
    "on-error",
];

/// Every rewrite operation.
pub const OPERATIONS: &[OperationInfo] = &[
    operation_of(
        "set",
        "\"T\" value(\"NAME\")",
        "sets a value, MESSAGE if none is named; a type hint gives it a type",
        (
            example(r#"set("$PROGRAM on $HOST" value("where"))"#, "${where}", "", "app on host"),
            VALUE.shown_by("applications-17"),
        ),
        (1, 1),
        &["value", TEMPLATE[0], TEMPLATE[1], TEMPLATE[2], TEMPLATE[3], TEMPLATE[4], TEMPLATE[5], TEMPLATE[6]],
        set,
    ),
    operation_of(
        "unset",
        "value(\"NAME\")",
        "removes a value, MESSAGE if none is named",
        (example(r#"unset(value("user"))"#, "${user:-nobody}", "root", "nobody"), VALUE),
        (0, 0),
        &["value"],
        unset,
    ),
    operation_of(
        "subst",
        "\"pattern\" \"T\" value(\"NAME\") type(pcre|string) flags(...)",
        "replaces the first match, or with flags(global) every match; $0, $1 ... and named groups can be used in T",
        (
            example(
                r#"subst("o" "0" value("MESSAGE") flags(global))"#,
                "${MESSAGE}",
                "hello world",
                "hell0 w0rld",
            ),
            Cost::of("the search, as that of a filter; a value in which nothing is found is not touched")
                .shown_by("subst-host"),
        ),
        (2, 2),
        &["value", "type", "flags"],
        subst,
    ),
    operation_of(
        "set-tag",
        "\"T\"",
        "sets a tag",
        (
            example(r#"set-tag("on-$HOST")"#, "$TAGS", "web", "web,on-host"),
            Cost::of("one bit; a tag that a template prints is looked up in a table of the worker"),
        ),
        (1, 1),
        &[],
        |a| tag(a, true),
    ),
    operation_of(
        "clear-tag",
        "\"T\"",
        "takes a tag away",
        (
            example(r#"clear-tag("web")"#, "[$TAGS]", "[web]", "[]"),
            Cost::of("one bit; a tag that a template prints is looked up in a table of the worker"),
        ),
        (1, 1),
        &[],
        |a| tag(a, false),
    ),
    operation_of(
        "groupset",
        "\"T\" values(\"glob\", ...)",
        "sets every value there is whose name fits; $_ in T is the value as it was",
        (example(r#"groupset("<$_>" values("us*"))"#, "${user} ${score}", "root 5", "<root> 5"), VALUES),
        (1, 1),
        &["values"],
        groupset,
    ),
    operation_of(
        "groupunset",
        "values(\"glob\", ...)",
        "removes every value whose name fits",
        (example(r#"groupunset(values("us*", "sc*"))"#, "[${user}${score}]", "[root5]", "[]"), VALUES),
        (0, 0),
        &["values"],
        |a| {
            let globs = a.globs()?;
            Some(Op::Group(Box::new(Group::new(globs, None))))
        },
    ),
    operation_of(
        "rename",
        "\"from\" \"to\"",
        "gives a value another name; it keeps its type",
        (example(r#"rename("user" "account")"#, "${user}>${account}", "root>", ">root"), VALUE),
        (2, 2),
        &[],
        rename,
    ),
    operation_of(
        "set-matches",
        "\"T\"",
        "sets $1, $2 ... to the items of a list",
        (
            example(r#"set-matches('a,"b,c"')"#, "$2", "", "b,c"),
            Cost::of("an entry for each item of the list"),
        ),
        (1, 1),
        &[],
        |a| Some(Op::SetMatches(Box::new(a.template(0)?))),
    ),
    operation_of(
        "unset-matches",
        "",
        "removes $0, $1 ...",
        (example(r#"unset-matches()"#, "[$1]", "[hello]", "[]"), Cost::of("removes the entries there are")),
        (0, 0),
        &[],
        |_| Some(Op::UnsetMatches),
    ),
    operation_of(
        "set-pri",
        "\"T\"",
        "sets facility and severity as one number, 0 to 1023",
        (example(r#"set-pri("13")"#, "$FACILITY.$SEVERITY", "auth.info", "user.notice"), NUMBER),
        (1, 1),
        &[],
        |a| header(a, Part::Pri),
    ),
    operation_of(
        "set-severity",
        "\"T\"",
        "sets the severity: a name, its usual short forms, or 0 to 7",
        (example(r#"set-severity("error")"#, "$SEVERITY", "info", "err"), NUMBER),
        (1, 1),
        &[],
        |a| header(a, Part::Severity),
    ),
    operation_of(
        "set-facility",
        "\"T\"",
        "sets the facility: a name or 0 to 127",
        (example(r#"set-facility("local3")"#, "$FACILITY", "auth", "local3"), NUMBER),
        (1, 1),
        &[],
        |a| header(a, Part::Facility),
    ),
    operation_of(
        "set-time-zone",
        "\"zone\"",
        "shows the message's time in another zone",
        (
            example(
                r#"set-time-zone("Asia/Tokyo")"#,
                "$ISODATE",
                "2026-11-21T10:00:00+01:00",
                "2026-11-21T18:00:00+09:00",
            ),
            ZONE,
        ),
        (1, 1),
        &["time-stamp"],
        |a| zone(a, Change::Convert),
    ),
    operation_of(
        "fix-time-zone",
        "\"zone\"",
        "reads the message's time as one of another zone",
        (
            example(
                r#"fix-time-zone("Asia/Tokyo")"#,
                "$ISODATE",
                "2026-11-21T10:00:00+01:00",
                "2026-11-21T10:00:00+09:00",
            ),
            ZONE,
        ),
        (1, 1),
        &["time-stamp"],
        |a| zone(a, Change::Fix),
    ),
    operation_of(
        "guess-time-zone",
        "",
        "reads the message's time in the zone that makes it the time of receipt, give or take 30 s; a late message stays as it is",
        (
            example(
                r#"fix-time-zone("UTC"); guess-time-zone()"#,
                "$ISODATE",
                "2026-11-21T10:00:00+01:00",
                "2026-11-21T10:00:00+01:00",
            ),
            Cost::of("a subtraction"),
        ),
        (0, 0),
        &["time-stamp"],
        |a| zone(a, Change::Guess),
    ),
];
