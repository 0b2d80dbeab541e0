//! Log paths made at random, always the same ones: junctions, conditions and embedded paths with flags write
//! what the distribution's syslog-ng writes.

use crate::golden::case::Case;
use crate::golden::random::Random;
use crate::golden::run::{Receiver, run};
use crate::golden::{compare, every};
use testkit::{peers, skip};

const CASES: usize = 80;
const MESSAGES: usize = 24;
/// How deep statements stand in one another.
const DEPTH: usize = 3;

const HEAD: &str = "@version: 4.0\noptions { keep-hostname(yes); use-dns(no); };\n\
                    source s { network(ip(\"127.0.0.1\") port(%tcp:in%)); };\n";

const FILTERS: [&str; 9] = [
    "message('a')",
    "message('b')",
    "message('1')",
    "facility(kern)",
    "level(err..emerg)",
    "\"${v}\" eq '1'",
    "not program('app')",
    "tags('t')",
    "not match('x' value('v'))",
];

const CHANGES: [&str; 7] = [
    "rewrite { set('1' value('v')); };",
    "rewrite { set('' value('v')); };",
    "rewrite { set('two' value('v')); };",
    "rewrite { set-tag('t'); };",
    "rewrite { subst('a' '<A>' value('MESSAGE')); };",
    "parser { csv-parser(columns('v') delimiters(' ')); };",
    "rewrite { unset(value('v')); };",
];

const TEXTS: [&str; 10] = ["a", "b", "foo", "x", "1", "a b", "1 a", "2 foo x", "b x", "a a"];

#[test]
fn write_what_syslog_ng_writes() {
    let Some(program) = peers::syslog_ng() else { return skip(peers::MISSING) };
    let receiver = Receiver::SyslogNg(program);
    every((0..CASES).map(made).collect(), |case| {
        let told = |fault| format!("{fault}\n{}", case.config);
        compare(&run(&receiver, case)?, &run(&Receiver::Penstock, case)?).map_err(told)
    });
}

fn made(number: usize) -> Case {
    let name = format!("random/{number}");
    let mut paths = Paths { random: Random::new(&name), files: 0 };
    let config: Vec<String> = (0..2 + paths.random.below(3))
        .map(|_| format!("log {{ source(s); {} }};", paths.body(DEPTH)))
        .collect();
    let messages = (0..MESSAGES).map(|_| paths.message().into_bytes()).collect();
    Case::of(name, format!("{HEAD}{}\n", config.join("\n")), messages)
}

struct Paths {
    random: Random,
    /// Each destination has a file of its own.
    files: usize,
}

impl Paths {
    fn message(&mut self) -> String {
        let (pri, text) = (self.random.below(192), *self.random.of(&TEXTS));
        let program = self.random.of(&["app", "foo"]);
        format!("<{pri}>Nov 11 01:02:03 web {program}: {text}")
    }

    fn filter(&mut self) -> &'static str {
        FILTERS[self.random.below(FILTERS.len())]
    }

    /// Steps, and embedded paths or branches behind them.
    fn body(&mut self, depth: usize) -> String {
        let mut body = match self.random.below(3) {
            0..2 => self.branched(depth),
            _ => self.steps(3) + &self.group(),
        };
        if !body.contains("junction") && !body.contains("if ") && depth > 0 {
            let paths = self.random.below(4);
            body += &(0..paths).map(|_| format!("log {{ {}}}; ", self.body(depth - 1))).collect::<String>();
        }
        let flags: Vec<&str> = ["final", "fallback"].into_iter().filter(|_| self.random.is(22)).collect();
        if flags.is_empty() { body } else { format!("{body}flags({}); ", flags.join(", ")) }
    }

    /// Changes and destinations with branches among them. What has entered a branch does not fail in it, nor
    /// behind it: before version 4, syslog-ng tries the next branch then.
    fn branched(&mut self, depth: usize) -> String {
        let mut text = self.changes(2);
        if depth > 0 {
            text += &if self.random.is(50) { self.junction(depth - 1) } else { self.condition(depth - 1) };
            text += &self.changes(2);
        }
        if self.random.is(60) { text + &self.destination() } else { text }
    }

    fn changes(&mut self, most: usize) -> String {
        let count = self.random.below(most + 1);
        let change = |_| if self.random.is(75) { self.change() } else { self.destination() };
        (0..count).map(change).collect()
    }

    fn steps(&mut self, most: usize) -> String {
        (0..self.random.below(most + 1)).map(|_| self.step()).collect()
    }

    fn step(&mut self) -> String {
        match self.random.below(10) {
            0..4 => format!("filter {{ {}; }}; ", self.filter()),
            4..8 => self.change(),
            _ => self.group(),
        }
    }

    fn change(&mut self) -> String {
        format!("{} ", self.random.of(&CHANGES))
    }

    fn destination(&mut self) -> String {
        format!("destination {{ {} }}; ", self.file())
    }

    fn file(&mut self) -> String {
        self.files += 1;
        let template = "$MSG|$PRI|${v}|$(if tags('t') t -)\\n";
        format!("file(\"%dir%/out/{:03}\" template(\"{template}\"));", self.files)
    }

    /// A destination of some drivers, and of channels that take what they want.
    fn group(&mut self) -> String {
        if self.random.is(50) {
            return self.destination();
        }
        let members = 1 + self.random.below(3);
        let members: String = (0..members).map(|_| self.member() + " ").collect();
        format!("destination {{ {members}}}; ")
    }

    fn member(&mut self) -> String {
        if self.random.is(30) {
            return self.file();
        }
        let flags = *self.random.of(&["", "", "", "flags(final); ", "flags(fallback); "]);
        let change = if self.random.is(30) { self.change() } else { String::new() };
        format!("channel {{ {change}filter {{ {}; }}; {}{flags}}};", self.filter(), self.destination())
    }

    fn junction(&mut self, depth: usize) -> String {
        let channels = 1 + self.random.below(3);
        let channel = |_| {
            let flags = if self.random.is(50) { "flags(final); " } else { "" };
            let filter =
                if self.random.is(60) { format!("filter {{ {}; }}; ", self.filter()) } else { String::new() };
            format!("channel {{ {filter}{}{flags}}}; ", self.branched(depth))
        };
        let channels: String = (0..channels).map(channel).collect();
        format!("junction {{ {channels}channel {{ {}}}; }}; ", self.branched(depth))
    }

    fn condition(&mut self, depth: usize) -> String {
        let mut text = match self.random.is(60) {
            true => format!("if ({}) {{ {}}}", self.filter(), self.branched(depth)),
            false => format!("if {{ filter {{ {}; }}; {}}}", self.filter(), self.branched(depth)),
        };
        for _ in 0..self.random.below(3) {
            text += &format!(" elif ({}) {{ {}}}", self.filter(), self.branched(depth));
        }
        text += &format!(" else {{ {}}}", self.branched(depth));
        text + "; "
    }
}
