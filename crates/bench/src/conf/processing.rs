//! The steps of the processing cases in the syslog-ng language.

use super::{blocks, python};
use crate::cases::Processing;
use crate::place::Place;
use std::fmt::Write;
use stdio::CommandError;

/// The definitions in front of the log path, its steps, and the template of the output behind the message.
pub struct Steps {
    pub definitions: String,
    pub steps: String,
    pub template: String,
}

/// Event numbers of the messages are multiples of 1,000 below this.
const EVENTS: usize = 10_000;

pub fn steps(work: Processing, place: &Place) -> Result<Steps, CommandError> {
    let line = |more: &str| format!("$DATE $HOST $MSGHDR$MSG {more}\\n");
    let parser = |parser: &str, more: &str| Steps {
        definitions: format!("parser p {{ {parser} }};\n"),
        steps: " parser(p);".into(),
        template: line(more),
    };
    Ok(match work {
        Processing::Kv => parser("kv-parser(prefix(\"kv.\"));", "${kv.user} ${kv.act} ${kv.code}"),
        Processing::Json => {
            parser("json-parser(prefix(\"j.\"));", "${j.user} ${j.act} ${j.code} ${j.nest.b}")
        }
        Processing::Csv => {
            let columns: Vec<String> = (1..=22).map(|n| format!("\"c.{n}\"")).collect();
            let parser_text = format!("csv-parser(columns({}) delimiters(\",\"));", columns.join(", "));
            parser(&parser_text, "${c.2} ${c.8} ${c.10}")
        }
        Processing::Xml => parser("xml(prefix(\"x\"));", "${x.e.user} ${x.e.act} ${x.e.code}"),
        Processing::RegexpSeldom => Steps {
            definitions: "filter f { not message(\"(refused|rejected) by rule [0-9]+ on [a-z]+\"); };\n".into(),
            steps: " filter(f);".into(),
            template: line(""),
        },
        Processing::RegexpCaptures => Steps {
            definitions: "filter f { match(\"conn=([0-9]+) seq=([0-9]+) ([^ ]+) \" value(\"MESSAGE\") flags(\"store-matches\")); };\n".into(),
            steps: " filter(f);".into(),
            template: line("$1 $2 $3"),
        },
        Processing::FormatJson => Steps {
            template: "$(format-json --scope nv-pairs --exclude MESSAGE)\\n".into(),
            ..parser("json-parser();", "")
        },
        Processing::KvToJson => Steps {
            definitions: "parser p { kv-parser(prefix(\"kv.\")); };\nfilter f { message(\"seq=[0-9]+ \"); };\n\
                rewrite r { subst(\"[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+\", \"x.x.x.x\", value(\"MESSAGE\") flags(global)); };\n"
                .into(),
            steps: " parser(p); filter(f); rewrite(r);".into(),
            template: line("$(format-json --scope nv-pairs --exclude MESSAGE)"),
        },
        Processing::Date => {
            let text = "date-parser(format(\"%Y-%m-%d %H:%M:%S\") template(\"2026-11-21 10:20:${SEC}\") time-zone(\"UTC\"));";
            parser(text, "$UNIXTIME")
        }
        Processing::ContextualData => {
            let rows = (0..1000).map(|n| {
                format!("host{n:03},c.site,site{}\nhost{n:03},c.owner,team{}\nhost{n:03},c.note,unread\n", n % 20, n % 7)
            });
            let file = place.write("context.csv", &rows.collect::<String>())?;
            let text = format!("add-contextual-data(selector(\"$HOST\") database(\"{}\"));", file.display());
            parser(&text, "${c.site} ${c.owner}")
        }
        Processing::PatternDb { rules } => {
            let file = place.write("patterns.xml", &database(rules))?;
            let text = format!("db-parser(file(\"{}\"));", file.display());
            parser(&text, "${.classifier.class} ${db.user} ${db.port}")
        }
        Processing::Chain { branches } => chain(branches, line("${class}")),
        Processing::Applications { count } => applications(count, line("${a.vendor} ${a.product}")),
        Processing::AppsToJson { count } => apps_to_json(count, line(HEC)),
        Processing::Block(block) => {
            let (steps, printed) = blocks::steps(block);
            Steps { definitions: String::new(), steps, template: line(printed) }
        }
        Processing::Python(what) => python::steps(what, &line),
        Processing::Printed(what) if what.is_parsed() => parser("kv-parser();", what.template()),
        Processing::Printed(what) => {
            Steps { definitions: String::new(), steps: String::new(), template: line(what.template()) }
        }
    })
}

/// Rules for so many events, spread over their numbers.
fn database(rules: usize) -> String {
    let mut text = String::from(
        "<patterndb version=\"4\" pub_date=\"2026-11-21\">\n<ruleset name=\"events\" id=\"events\">\n<patterns>\n",
    );
    for program in 0..17 {
        let _ = writeln!(text, "<pattern>app{program}</pattern>");
    }
    text.push_str("</patterns>\n<rules>\n");
    for number in (0..EVENTS).step_by(EVENTS / rules.clamp(1, EVENTS)) {
        let _ = writeln!(
            text,
            "<rule provider=\"bench\" id=\"e{number}\" class=\"event\"><patterns><pattern>event {number:04} user \
             @ESTRING:db.user: @from @IPv4:db.from@ port @NUMBER:db.port@@ANYSTRING:db.rest@</pattern></patterns></rule>"
        );
    }
    text.push_str("</rules>\n</ruleset>\n</patterndb>\n");
    text
}

fn chain(branches: usize, template: String) -> Steps {
    let mut steps = String::new();
    for number in 0..branches {
        let word = if number == 0 { " if" } else { " elif" };
        let _ = write!(
            steps,
            "{word} (program(\"app{number}\" type(string))) {{ rewrite {{ set(\"c{number}\" value(\"class\")); }}; }}"
        );
    }
    steps.push_str(" else { rewrite { set(\"none\" value(\"class\")); }; };");
    Steps { definitions: String::new(), steps, template }
}

fn applications(count: usize, template: String) -> Steps {
    let mut definitions = String::new();
    for number in 0..count {
        let _ = writeln!(
            definitions,
            "application app{number}[bench] {{\n    filter {{ program(\"app{number}\" type(string)) or message(\"%VENDOR{number}-\"); }};\n    \
             parser {{ channel {{ rewrite {{ set(\"vendor{number}\" value(\"a.vendor\")); \
             set(\"product{number}\" value(\"a.product\")); set(\"s{number}\" value(\"a.sourcetype\")); }}; }}; }};\n}};"
        );
    }
    definitions.push_str("parser p { app-parser(topic(bench)); };\n");
    Steps { definitions, steps: " parser(p);".into(), template }
}

/// An event for Splunk's HTTP Event Collector.
const HEC: &str = "$(format-json time=$S_UNIXTIME host=$HOST source=${.splunk.source} sourcetype=${.splunk.sourcetype} \
                   index=${.splunk.index} event=$MSGHDR$MSG --key fields.*)";

/// A third of the applications asks for PROGRAM, a third for two values, a third for either.
fn apps_to_json(count: usize, template: String) -> Steps {
    let mut definitions = String::from("parser p_kv { kv-parser(prefix(\".values.\")); };\n");
    for n in 0..count {
        let filter = match n % 3 {
            0 => format!("program(\"app{n}\" type(string) flags(prefix))"),
            1 => format!("\"${{.values.user}}\" eq \"u{n}\" and \"${{.values.zone}}\" eq \"dmz\""),
            _ => format!("program(\"other{n}\" type(string)) or \"${{.values.rule}}\" eq \"{n}\""),
        };
        let set = |value: &str, name: &str| format!("set(\"{value}\" value(\"{name}\"));");
        let sets = [
            set(&format!("main{n}"), ".splunk.index"),
            set(&format!("vendor:{n}"), ".splunk.sourcetype"),
            set("program:$PROGRAM", ".splunk.source"),
            set(&format!("vendor{n}"), "fields.vendor"),
            set(&format!("product{n}"), "fields.product"),
        ];
        let _ = writeln!(
            definitions,
            "application a{n}[hec] {{ filter {{ {filter}; }}; parser {{ channel {{ rewrite {{ {} }}; }}; }}; }};",
            sets.join(" ")
        );
    }
    definitions.push_str("parser p { app-parser(topic(hec)); };\n");
    Steps { definitions, steps: " parser(p_kv); if { parser(p); };".into(), template }
}
