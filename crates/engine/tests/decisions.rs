//! Applications, conditions and post-filters decide together what each of them would decide alone: random
//! configurations and messages, held against a model that tries everything one by one.

#[path = "../examples/path_cost/rows.rs"]
#[allow(dead_code, unused_imports)]
mod rows;

use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;

const VALUES: [&str; 4] = ["v0", "v1", "v2", "v3"];
/// The first stands for a value that is not set.
const TEXTS: [&str; 5] = ["", "s1", "s2", "s12", "t3"];
const PROGRAMS: [&str; 6] = ["app", "app1", "app12", "APP1", "other", "sub"];
const HOSTS: [&str; 3] = ["host1", "host2", "gate1"];
const WORDS: [&str; 5] = ["alpha", "beta", "a1b", "alpha beta", "none"];
const TAGS: [&str; 2] = ["one", "two"];
/// Filters of their own, which others call.
const NAMED: [(&str, Cond); 3] = [
    ("f_tag", Cond::Tag(0)),
    ("f_value", Cond::Is(0, 1)),
    ("f_program", Cond::Program { text: 0, prefix: true, any_case: false }),
];

thread_local! {
    /// How often each of them was called, and it matched or did not.
    static CALLED: RefCell<[[u64; 2]; NAMED.len()]> = const { RefCell::new([[0; 2]; NAMED.len()]) };
}

#[derive(Clone, Debug)]
enum Cond {
    Program {
        text: usize,
        prefix: bool,
        any_case: bool,
    },
    Host(usize),
    Word(usize),
    /// `a.b` as a regular expression.
    Pattern,
    Is(usize, usize),
    IsNot(usize, usize),
    Begins(usize, usize),
    /// Text of a template compared with a text: decided when compiled, or by two values.
    Same(usize, usize),
    Tag(usize),
    /// One of [`NAMED`]: counted whenever it is called.
    Called(usize),
    Not(Box<Cond>),
    And(Vec<Cond>),
    Or(Vec<Cond>),
}

#[derive(Clone, Debug)]
enum Step {
    Set {
        value: usize,
        text: usize,
        condition: Option<Cond>,
    },
    /// The text of one value into another.
    Copy {
        from: usize,
        to: usize,
    },
    Unset(usize),
    SetTag(usize),
    Filter(Cond),
    /// A parser that fails unless the text begins one of two values; a value is set to it.
    Regexp {
        from: usize,
        text: usize,
        to: usize,
    },
    If(Cond, Vec<Step>, Option<Vec<Step>>),
    /// The first of these that all of a message's steps come through, or else the last steps.
    Try(Vec<Vec<Step>>, Option<Vec<Step>>),
    /// Applications of another topic, one of which has to match unless it is said that none need to.
    Inner {
        may_fail: bool,
    },
}

#[derive(Clone, Debug)]
struct Application {
    filter: Option<Cond>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
struct Message {
    program: usize,
    host: usize,
    word: usize,
    values: [usize; VALUES.len()],
    tags: BTreeSet<usize>,
}

impl Cond {
    fn holds(&self, message: &Message) -> bool {
        match self {
            Cond::Program { text, prefix, any_case } => {
                let fold = |text: &str| if *any_case { text.to_lowercase() } else { text.to_owned() };
                let (program, text) = (fold(PROGRAMS[message.program]), fold(PROGRAMS[*text]));
                if *prefix { program.starts_with(&text) } else { program == text }
            }
            Cond::Host(host) => HOSTS[message.host].starts_with(&HOSTS[*host][..4]),
            Cond::Word(word) => WORDS[message.word].contains(WORDS[*word]),
            Cond::Pattern => WORDS[message.word].as_bytes().windows(3).any(|w| w[0] == b'a' && w[2] == b'b'),
            Cond::Is(value, text) => message.values[*value] == *text,
            Cond::IsNot(value, text) => message.values[*value] != *text,
            Cond::Begins(value, text) => TEXTS[message.values[*value]].starts_with(TEXTS[*text]),
            Cond::Same(a, b) => message.values[*a] == message.values[*b],
            Cond::Tag(tag) => message.tags.contains(tag),
            Cond::Called(named) => {
                let holds = NAMED[*named].1.holds(message);
                CALLED.with_borrow_mut(|called| called[*named][usize::from(!holds)] += 1);
                holds
            }
            Cond::Not(inner) => !inner.holds(message),
            Cond::And(list) => list.iter().all(|inner| inner.holds(message)),
            Cond::Or(list) => list.iter().any(|inner| inner.holds(message)),
        }
    }

    fn text(&self) -> String {
        let list = |list: &[Cond], word: &str| {
            format!("({})", list.iter().map(Cond::text).collect::<Vec<_>>().join(word))
        };
        match self {
            Cond::Program { text, prefix, any_case } => {
                let flags = match (prefix, any_case) {
                    (false, false) => "",
                    (true, false) => " flags(prefix)",
                    (false, true) => " flags(ignore-case)",
                    (true, true) => " flags(ignore-case, prefix)",
                };
                format!("program('{}' type(string){flags})", PROGRAMS[*text])
            }
            Cond::Host(host) => format!("host('{}' type(string) flags(prefix))", &HOSTS[*host][..4]),
            Cond::Word(word) => format!("message('{}' type(string) flags(substring))", WORDS[*word]),
            Cond::Pattern => "message('a.b')".to_owned(),
            Cond::Is(value, text) => format!("\"${{{}}}\" eq '{}'", VALUES[*value], TEXTS[*text]),
            Cond::IsNot(value, text) => format!("\"${{{}}}\" ne '{}'", VALUES[*value], TEXTS[*text]),
            Cond::Begins(value, text) => {
                format!("match('{}' value('{}') type(string) flags(prefix))", TEXTS[*text], VALUES[*value])
            }
            Cond::Same(a, b) => format!("\"${{{}}}\" eq \"${{{}}}\"", VALUES[*a], VALUES[*b]),
            Cond::Tag(tag) => format!("tags('{}')", TAGS[*tag]),
            Cond::Called(named) => format!("filter({})", NAMED[*named].0),
            Cond::Not(inner) => format!("not ({})", inner.text()),
            Cond::And(parts) => list(parts, " and "),
            Cond::Or(parts) => list(parts, " or "),
        }
    }
}

impl Step {
    /// Whether the message goes on.
    fn run(&self, message: &mut Message, inner: &[Application]) -> bool {
        match self {
            Step::Set { value, text, condition } => {
                if condition.as_ref().is_none_or(|condition| condition.holds(message)) {
                    message.values[*value] = *text;
                }
            }
            Step::Copy { from, to } => message.values[*to] = message.values[*from],
            Step::Unset(value) => message.values[*value] = 0,
            Step::SetTag(tag) => {
                message.tags.insert(*tag);
            }
            Step::Filter(condition) => return condition.holds(message),
            Step::Regexp { from, text, to } => {
                let found = TEXTS[message.values[*from]].starts_with(TEXTS[*text]);
                if found {
                    message.values[*to] = *text;
                }
                return found;
            }
            Step::If(condition, yes, no) => {
                let steps = if condition.holds(message) { Some(yes) } else { no.as_ref() };
                return steps.is_none_or(|steps| run(steps, message, inner));
            }
            Step::Try(tries, no) => {
                for steps in tries {
                    let mut tried = message.clone();
                    if run(steps, &mut tried, inner) {
                        *message = tried;
                        return true;
                    }
                }
                return no.as_ref().is_none_or(|steps| run(steps, message, inner));
            }
            Step::Inner { may_fail } => return first(inner, message, &[]) || *may_fail,
        }
        true
    }

    fn write(&self, out: &mut String) {
        let _ = match self {
            Step::Set { value, text, condition: None } => {
                write!(out, "rewrite {{ set('{}' value('{}')); }}; ", TEXTS[*text], VALUES[*value])
            }
            Step::Set { value, text, condition: Some(condition) } => write!(
                out,
                "rewrite {{ set('{}' value('{}') condition({})); }}; ",
                TEXTS[*text],
                VALUES[*value],
                condition.text()
            ),
            Step::Copy { from, to } => {
                write!(out, "rewrite {{ set(\"${{{}}}\" value('{}')); }}; ", VALUES[*from], VALUES[*to])
            }
            Step::Unset(value) => write!(out, "rewrite {{ unset(value('{}')); }}; ", VALUES[*value]),
            Step::SetTag(tag) => write!(out, "rewrite {{ set-tag('{}'); }}; ", TAGS[*tag]),
            Step::Filter(condition) => write!(out, "filter {{ {} }}; ", condition.text()),
            Step::Regexp { from, text, to } => write!(
                out,
                "parser {{ regexp-parser(patterns('^nothing', '^(?<{}>{})') template(\"${{{}}}\")); }}; ",
                VALUES[*to], TEXTS[*text], VALUES[*from]
            ),
            Step::If(condition, yes, no) => {
                let _ = write!(out, "if ({}) {{ ", condition.text());
                yes.iter().for_each(|step| step.write(out));
                write_otherwise(no.as_deref(), out)
            }
            Step::Try(tries, no) => {
                for (at, steps) in tries.iter().enumerate() {
                    out.push_str(if at == 0 { "if { " } else { "} elif { " });
                    steps.iter().for_each(|step| step.write(out));
                }
                write_otherwise(no.as_deref(), out)
            }
            Step::Inner { may_fail: false } => write!(out, "parser(p_inner); "),
            Step::Inner { may_fail: true } => write!(out, "if {{ parser(p_inner); }}; "),
        };
    }
}

fn write_otherwise(no: Option<&[Step]>, out: &mut String) -> std::fmt::Result {
    out.push('}');
    if let Some(no) = no {
        out.push_str(" else { ");
        no.iter().for_each(|step| step.write(out));
        out.push('}');
    }
    write!(out, "; ")
}

fn run(steps: &[Step], message: &mut Message, inner: &[Application]) -> bool {
    steps.iter().all(|step| step.run(message, inner))
}

/// The first application whose filter and steps match; the others leave no trace.
fn first(applications: &[Application], message: &mut Message, inner: &[Application]) -> bool {
    applications.iter().any(|application| {
        let mut tried = message.clone();
        let holds = application.filter.as_ref().is_none_or(|filter| filter.holds(&tried));
        let taken = holds && run(&application.steps, &mut tried, inner);
        if taken {
            *message = tried;
        }
        taken
    })
}

fn cond() -> impl Strategy<Value = Cond> {
    let place = || (0..VALUES.len(), 1..TEXTS.len());
    let leaf = prop_oneof![
        4 => (0..PROGRAMS.len(), any::<bool>(), any::<bool>())
            .prop_map(|(text, prefix, any_case)| Cond::Program { text, prefix, any_case }),
        1 => (0..HOSTS.len()).prop_map(Cond::Host),
        2 => (0..WORDS.len()).prop_map(Cond::Word),
        1 => Just(Cond::Pattern),
        4 => place().prop_map(|(value, text)| Cond::Is(value, text)),
        2 => (0..VALUES.len(), 0..TEXTS.len()).prop_map(|(value, text)| Cond::IsNot(value, text)),
        2 => place().prop_map(|(value, text)| Cond::Begins(value, text)),
        1 => (0..VALUES.len(), 0..VALUES.len()).prop_map(|(a, b)| Cond::Same(a, b)),
        1 => (0..TAGS.len()).prop_map(Cond::Tag),
        2 => (0..NAMED.len()).prop_map(Cond::Called),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Cond::Not(Box::new(inner))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Cond::And),
            prop::collection::vec(inner, 1..4).prop_map(Cond::Or),
        ]
    })
}

/// `nested`: how often steps ask the applications of another topic.
fn steps(nested: u32) -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        4 => (0..VALUES.len(), 0..TEXTS.len(), prop::option::of(cond()))
            .prop_map(|(value, text, condition)| Step::Set { value, text, condition }),
        1 => (0..VALUES.len(), 0..VALUES.len()).prop_map(|(from, to)| Step::Copy { from, to }),
        1 => (0..VALUES.len()).prop_map(Step::Unset),
        1 => (0..TAGS.len()).prop_map(Step::SetTag),
        1 => cond().prop_map(Step::Filter),
        2 => (0..VALUES.len(), 1..TEXTS.len(), 0..VALUES.len())
            .prop_map(|(from, text, to)| Step::Regexp { from, text, to }),
        // The last, so that none is made of another step while a failure is made smaller.
        nested => any::<bool>().prop_map(|may_fail| Step::Inner { may_fail }),
    ];
    let step = leaf.prop_recursive(2, 10, 3, |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (cond(), body(), prop::option::of(body()))
                .prop_map(|(condition, yes, no)| Step::If(condition, yes, no)),
            (prop::collection::vec(body(), 1..4), prop::option::of(body()))
                .prop_map(|(tries, no)| Step::Try(tries, no)),
        ]
    });
    prop::collection::vec(step, 1..4)
}

fn applications(max: usize, nested: u32) -> impl Strategy<Value = Vec<Application>> {
    let filter = prop_oneof![
        4 => cond().prop_map(Some),
        2 => (0..NAMED.len(), cond())
            .prop_map(|(n, also)| Some(Cond::And(vec![Cond::Not(Box::new(Cond::Called(n))), also]))),
        2 => (0..NAMED.len(), 0..NAMED.len(), cond())
            .prop_map(|(a, b, also)| Some(Cond::Or(vec![Cond::Called(a), also, Cond::Called(b)]))),
        1 => Just(None),
    ];
    let one = (filter, steps(nested)).prop_map(|(filter, steps)| Application { filter, steps });
    prop::collection::vec(one, 1..max)
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let values = prop::array::uniform4(0..TEXTS.len());
    let one = (0..PROGRAMS.len(), 0..HOSTS.len(), 0..WORDS.len(), values).prop_map(
        |(program, host, word, values)| Message { program, host, word, values, tags: BTreeSet::new() },
    );
    prop::collection::vec(one, 1..40)
}

impl Message {
    /// As it comes in: its values are pairs in front of the words.
    fn line(&self) -> String {
        let mut line = format!(
            "<13>Nov 21 10:00:00 {} {}: word=\"{}\"",
            HOSTS[self.host], PROGRAMS[self.program], WORDS[self.word]
        );
        for (name, text) in VALUES.iter().zip(self.values).filter(|(_, text)| *text > 0) {
            let _ = write!(line, " {name}={}", TEXTS[text]);
        }
        line
    }

    fn printed(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|text| TEXTS[*text]).collect();
        let tags = TAGS.iter().enumerate().map(|(n, tag)| if self.tags.contains(&n) { *tag } else { "" });
        let tags: Vec<&str> = tags.collect();
        format!("{}|{}", values.join(","), tags.join(","))
    }
}

fn config(topics: &[(&str, &[Application])], select: &[Step], counted: bool) -> String {
    let mut text = String::from("@version: 4.11\nsource s { in(); };\nparser p_kv { kv-parser(); };\n");
    let _ = writeln!(text, "options {{ stats-level({}); }};", u8::from(counted));
    for (name, condition) in &NAMED {
        let _ = writeln!(text, "filter {name} {{ {} }};", condition.text());
    }
    for (topic, applications) in topics {
        for (number, application) in applications.iter().enumerate() {
            let _ = write!(text, "application {topic}{number}[{topic}] {{ ");
            if let Some(filter) = &application.filter {
                let _ = write!(text, "filter {{ {} }}; ", filter.text());
            }
            text.push_str("parser { channel { ");
            application.steps.iter().for_each(|step| step.write(&mut text));
            text.push_str("}; }; };\n");
        }
        let _ = writeln!(text, "parser p_{topic} {{ app-parser(topic({topic})); }};");
    }
    let _ = write!(
        text,
        "destination d {{ out(template(\"${{v0}},${{v1}},${{v2}},${{v3}}|${{one}},${{two}}\\n\")); }};\nlog {{ source(s); parser(p_kv); \
         rewrite {{ set('$word' value('MESSAGE')); }};\nif {{ parser(p_first); }} else {{ rewrite {{ set('t3' value('v3')); }}; }};\n\
         if {{ parser(p_post); }};\nif {{ "
    );
    select.iter().for_each(|step| step.write(&mut text));
    text.push_str("} else {};\n");
    for tag in TAGS {
        let _ = writeln!(text, "rewrite {{ set('{tag}' value('{tag}') condition(tags('{tag}'))); }};");
    }
    text.push_str("destination(d); };\n");
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn together_as_one_by_one(
        first_topic in applications(80, 2),
        inner in applications(8, 0),
        post in applications(8, 1),
        select in steps(1),
        messages in messages(),
        counted: bool,
    ) {
        let config = config(&[("first", &first_topic), ("inner", &inner), ("post", &post)], &select, counted);
        CALLED.set(Default::default());
        let lines: String = messages.iter().map(|message| message.line() + "\n").collect();
        let mut path = rows::Path::new(&config, lines.into_bytes());
        let mut expected = String::new();
        for mut message in messages {
            if !first(&first_topic, &mut message, &inner) {
                message.values[3] = 4;
            }
            first(&post, &mut message, &inner);
            let mut tried = message.clone();
            if run(&select, &mut tried, &inner) {
                message = tried;
            }
            expected.push_str(&message.printed());
            expected.push('\n');
        }
        // Twice: the second time from memory.
        for _ in 0..2 {
            path.run();
            let output = path.output();
            prop_assert_eq!(String::from_utf8_lossy(&output), expected.as_str(), "{}", &config);
        }
        for ((name, _), called) in NAMED.iter().zip(CALLED.take()) {
            let expected = called.map(|count| if counted { 2 * count } else { 0 });
            prop_assert_eq!(path.counts(name), expected, "{}: {}", name, &config);
        }
    }
}
