//! The filter functions: name, arguments, help, example, cost and what compiles it. A new one is an entry
//! here.

use super::functions::{
    blank, facility, filter, in_list, level, netmask, on_field, on_value, rate_limit, tags,
};
use crate::env::FilterEnv;
use crate::netmask::Net;
use crate::node::Node;
use crate::subject::Subject;
use conf_syntax::Call;
use diag::{Diagnostic, Diagnostics, nearest};
use record::NameId;
use template::Cost;

/// A filter function for the reference manual.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub arguments: &'static str,
    pub help: &'static str,
    pub example: Example,
    pub cost: Cost,
    compile: Compile,
}

/// Two filter expressions for the [`template::sample`] with values: one that holds, one that does not.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub holds: &'static str,
    pub fails: &'static str,
}

type Compile = fn(&Call, &dyn FilterEnv, &mut Diagnostics) -> Option<Node>;

const MATCHER: &str = "\"pattern\" type(pcre|string|glob) flags(...)";

const fn function(
    name: &'static str,
    aliases: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    (holds, fails): (&'static str, &'static str),
    cost: Cost,
    compile: Compile,
) -> FunctionInfo {
    FunctionInfo { name, aliases, arguments, help, example: Example { holds, fails }, cost, compile }
}

const PRI: Cost =
    Cost::of("a look into a table of bits, one for all names and ranges").shown_by("filter-facility");
const PATTERN: Cost = Cost::of(
    "a fixed text is searched for, anchored ones are compared; regular expressions take time linear in the text, except those with \
     look-around or back-references. Equal patterns on one field in many branches are decided together",
)
.shown_by("filter-host");
const TEXT: Cost = Cost::of(
    "a search in the value where it lies; what a template prints is printed first. A pattern that occurs nowhere is found to do so at \
     memory speed",
)
.shown_by("regexp");

/// Every filter function.
pub const FUNCTIONS: &[FunctionInfo] = &[
    function("facility", &[], "name, a..b, number", "the facility of the message", (r#"facility(auth, cron)"#, r#"facility(mail)"#), PRI, facility),
    function("level", &["severity", "priority"], "name, a..b, number", "the severity of the message", (r#"level(notice..debug)"#, r#"level(err)"#), PRI, level),
    function("program", &[], MATCHER, "a pattern on PROGRAM", (r#"program("^app$")"#, r#"program("sshd")"#), PATTERN, |c, e, d| on_field(c, Subject::Program, e, d)),
    function("host", &[], MATCHER, "a pattern on HOST", (r#"host("host" type(string))"#, r#"host("^db[0-9]+")"#), PATTERN, |c, e, d| on_field(c, Subject::Host, e, d)),
    function("message", &[], MATCHER, "a pattern on MESSAGE", (r#"message("hello|goodbye")"#, r#"message("HELLO")"#), TEXT, |c, e, d| on_field(c, Subject::Message, e, d)),
    function(
        "match",
        &[],
        "\"pattern\" value(\"NAME\") template(\"T\") type(...) flags(...)",
        "a pattern on a value or what a template prints; without both on `PROGRAM[PID]: MESSAGE`", (r#"match("^root$" value("user"))"#, r#"match("db" template("$HOST/$PROGRAM"))"#), TEXT,
        on_value,
    ),
    function(
        "source",
        &[],
        MATCHER,
        "the name of the source statement; a plain string unless type() says otherwise", (r#"source("s_net")"#, r#"source("s_local")"#), Cost::of("a comparison of short texts"),
        |c, e, d| on_field(c, Subject::Value(NameId::SOURCE), e, d),
    ),
    function("filter", &[], "name", "another filter", (r#"filter(f_auth)"#, r#"not filter(f_auth)"#), Cost::of("none of its own: a filter that many places use is asked once a message where they stand side by side").shown_by("filters-20"), filter),
    function(
        "netmask",
        &[],
        "a.b.c.d/bits",
        "the IPv4 network of the sender; messages from this machine count as 127.0.0.1", (r#"netmask("10.1.0.0/16")"#, r#"netmask("192.168.0.0/16")"#), Cost::of("an AND and a comparison"),
        |c, _, d| netmask(c, Net::v4, "a.b.c.d, a.b.c.d/bits or a.b.c.d/mask", d),
    ),
    function(
        "netmask6",
        &[],
        "address/bits",
        "the IPv6 network of the sender; messages from this machine count as ::1", (r#"not netmask6("2001:db8::/32")"#, r#"netmask6("2001:db8::/32")"#), Cost::of("an AND and a comparison"),
        |c, _, d| netmask(c, Net::v6, "an IPv6 address or address/bits", d),
    ),
    function("tags", &[], "\"tag\", ...", "any of the tags is set", (r#"tags("db", "web")"#, r#"tags("db")"#), Cost::of("a test of bits, one for all tags").shown_by("filter-tag"), tags),
    function(
        "in-list",
        &[],
        "\"/file\" value(\"NAME\")",
        "the value is a line of the file, which is read when the configuration is", (r#"in-list("/etc/penstock/users.list" value("user"))"#, r#"in-list("/etc/penstock/users.list" value("HOST"))"#), Cost::of("a look into a table in memory, whatever the length of the list"),
        in_list,
    ),
    function(
        "blank",
        &[],
        "\"NAME\"",
        "the value is not set or says nothing: blanks, null, false, an empty list", (r#"blank("session")"#, r#"blank("user")"#), Cost::of("a look at the value"),
        blank,
    ),
    function(
        "rate-limit",
        &["throttle"],
        "key(\"T\") rate(n) thread-local-rate(n)",
        "up to n messages a second for each key, n at once; with thread-local-rate() so many on each worker thread", (r#"rate-limit(key("$HOST") rate(100))"#, r#"not rate-limit(key("$HOST") rate(100))"#), Cost::of("a look into a table that all workers share, whose lock is taken once a batch"),
        rate_limit,
    ),
];

/// The function a call names, and the condition it makes.
pub fn compile(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<(&'static str, Node)> {
    let name = call.name.norm();
    match FUNCTIONS.iter().find(|f| f.name == name || f.aliases.contains(&name.as_str())) {
        Some(function) => {
            let function_of = function.compile;
            function_of(call, env, diags).map(|node| (function.name, node))
        }
        None => {
            let known =
                FUNCTIONS.iter().flat_map(|f| std::iter::once(f.name).chain(f.aliases.iter().copied()));
            let text = format!("unknown filter function `{}`", call.name.text);
            let near = nearest(&call.name.text, known);
            diags.push(Diagnostic::error("F0101", text, call.name.span).suggest(near));
            None
        }
    }
}
