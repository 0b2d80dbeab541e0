//! Comparisons of values with texts that are decided together: the same answers as a plain reading of the
//! expression.

use super::*;
use crate::Filter;

/// Values, more of them than a set looks up together.
const VALUES: [&str; 9] = ["host", "prog", "message", "pid", "eq.a", "eq.b", "eq.c", "eq.d", "eq.e"];
/// The first of them, which filter functions look at.
const FIELDS: [&str; 3] = ["host", "program", "message"];
/// Parameters of STRUCTURED-DATA.
const PARAMS: usize = 2;
/// Tags, the last of them beyond those that are bits of a record.
const TAGS: [&str; 3] = ["eq.near", "eq.other", "eq.far"];
const TEXTS: [&str; 5] = ["", "x", "y", "web", "a longer text than eight"];

/// An expression, to be written as text and to be read plainly.
#[derive(Clone, Debug)]
enum Expr {
    Equal(usize, usize),
    Other(usize, usize),
    Swapped(usize, usize),
    /// A field, by its filter function.
    Field(usize, usize),
    Severe,
    /// A value, by `match()`.
    Matched(usize, usize),
    /// A parameter of STRUCTURED-DATA, by `match()`.
    Param(usize, usize),
    /// Whether it has one of two tags.
    Tagged(usize, usize),
    /// Whether the sender is in a network it is in, or in another.
    Net(bool),
    /// Two texts, whatever the message is.
    Texts(usize, usize),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
}

impl Expr {
    fn text(&self) -> String {
        let name = |value: &usize| match VALUES[*value] {
            "host" => "HOST".to_owned(),
            "prog" => "PROGRAM".to_owned(),
            "pid" => "PID".to_owned(),
            "message" => "MESSAGE".to_owned(),
            other => other.to_owned(),
        };
        let joined = |list: &[Expr], word: &str| {
            list.iter().map(|e| format!("({})", e.text())).collect::<Vec<_>>().join(word)
        };
        match self {
            Expr::Equal(value, text) => format!("'${{{}}}' eq '{}'", name(value), TEXTS[*text]),
            Expr::Swapped(value, text) => format!("'{}' eq '${{{}}}'", TEXTS[*text], name(value)),
            Expr::Other(value, text) => format!("'${{{}}}' ne '{}'", name(value), TEXTS[*text]),
            Expr::Field(field, text) => format!("{}('{}' type(string))", FIELDS[*field], TEXTS[*text]),
            Expr::Severe => "level(emerg..err)".to_owned(),
            Expr::Matched(value, text) => {
                format!("match('{}' value('{}') type(string))", TEXTS[*text], name(value))
            }
            Expr::Param(param, text) => {
                format!("match('{}' value('.SDATA.a@1.p{param}') type(string))", TEXTS[*text])
            }
            Expr::Tagged(one, other) => format!("tags('{}' '{}')", TAGS[*one], TAGS[*other]),
            Expr::Net(inside) => format!("netmask({})", if *inside { "127.0.0.0/8" } else { "10.0.0.0/8" }),
            Expr::Texts(left, right) => format!("'{}' eq '{}'", TEXTS[*left], TEXTS[*right]),
            Expr::Not(inner) => format!("not ({})", inner.text()),
            Expr::And(list) => joined(list, " and "),
            Expr::Or(list) => joined(list, " or "),
        }
    }

    fn holds(&self, message: &Message) -> bool {
        match self {
            Expr::Equal(value, text)
            | Expr::Swapped(value, text)
            | Expr::Field(value, text)
            | Expr::Matched(value, text) => message.values[*value] == *text,
            Expr::Other(value, text) => message.values[*value] != *text,
            Expr::Severe => message.severe,
            Expr::Param(param, text) => message.params[*param] == *text,
            Expr::Tagged(one, other) => message.tags[*one] || message.tags[*other],
            Expr::Net(inside) => *inside,
            Expr::Texts(left, right) => left == right,
            Expr::Not(inner) => !inner.holds(message),
            Expr::And(list) => list.iter().all(|e| e.holds(message)),
            Expr::Or(list) => list.iter().any(|e| e.holds(message)),
        }
    }
}

/// Which text each value is; the first is the one of a value that is not set.
#[derive(Clone, Debug)]
struct Message {
    values: [usize; 9],
    severe: bool,
    params: [usize; PARAMS],
    tags: [bool; TAGS.len()],
}

fn expr() -> impl Strategy<Value = Expr> {
    let place = || (0..VALUES.len(), 0..TEXTS.len());
    let leaf = prop_oneof![
        4 => place().prop_map(|(v, t)| Expr::Equal(v, t)),
        2 => place().prop_map(|(v, t)| Expr::Other(v, t)),
        1 => place().prop_map(|(v, t)| Expr::Swapped(v, t)),
        2 => (0..FIELDS.len(), 1..TEXTS.len()).prop_map(|(f, t)| Expr::Field(f, t)),
        1 => Just(Expr::Severe),
        3 => (0..VALUES.len(), 1..TEXTS.len()).prop_map(|(v, t)| Expr::Matched(v, t)),
        2 => (0..PARAMS, 1..TEXTS.len()).prop_map(|(p, t)| Expr::Param(p, t)),
        3 => (0..TAGS.len(), 0..TAGS.len()).prop_map(|(a, b)| Expr::Tagged(a, b)),
        1 => any::<bool>().prop_map(Expr::Net),
        1 => (0..TEXTS.len(), 0..TEXTS.len()).prop_map(|(a, b)| Expr::Texts(a, b)),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            inner.clone().prop_map(|e| Expr::Not(Box::new(e))),
            prop::collection::vec(inner.clone(), 1..6).prop_map(Expr::And),
            prop::collection::vec(inner, 1..6).prop_map(Expr::Or),
        ]
    })
}

fn message() -> impl Strategy<Value = Message> {
    let params = prop::array::uniform2(0..TEXTS.len());
    (prop::array::uniform9(0..TEXTS.len()), any::<bool>(), params, any::<[bool; TAGS.len()]>())
        .prop_map(|(values, severe, params, tags)| Message { values, severe, params, tags })
}

/// Gives the last of [`TAGS`] a number that no word of bits has.
fn number_tags() {
    let near = TAGS.iter().take(2).copied().map(str::to_owned);
    near.chain((0..64).map(|n| format!("eq.filler{n}"))).for_each(|tag| {
        tag_id(&tag).expect("room");
    });
    assert!(tag_id(TAGS[2]).expect("room").0 >= u64::BITS);
}

fn batch_of(messages: &[Message]) -> record::Batch {
    let mut batch = batch();
    for message in messages {
        let index = add(&mut batch, if message.severe { "sev=err" } else { "sev=info" });
        batch.set(index, NameId::MESSAGE, b"", record::ValueType::String);
        for (name, text) in VALUES.iter().zip(message.values).filter(|(_, text)| *text > 0) {
            let name = match *name {
                "host" => NameId::HOST,
                "prog" => NameId::PROGRAM,
                "pid" => NameId::PID,
                "message" => NameId::MESSAGE,
                name => record::intern(name).expect("room"),
            };
            batch.set(index, name, TEXTS[text].as_bytes(), record::ValueType::String);
        }
        let params = message.params.iter().enumerate().filter(|(_, text)| **text > 0);
        let params: String = params.map(|(n, text)| format!(" p{n}=\"{}\"", TEXTS[*text])).collect();
        batch.records[index].sdata = batch.append(format!("[a@1{params}][b@1 p0=\"web\"]").as_bytes());
        for (tag, _) in TAGS.iter().zip(message.tags).filter(|(_, is_set)| *is_set) {
            batch.set_tag(index, tag_id(tag).expect("room"));
        }
    }
    batch
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_filter_and_sets_of_them_answer_as_they_read(
        exprs in prop::collection::vec(expr(), 1..12),
        messages in prop::collection::vec(message(), 1..20),
    ) {
        number_tags();
        let mut batch = batch_of(&messages);
        let mut cx = context();
        let filters: Vec<Arc<Filter>> = exprs.iter().map(|e| Arc::new(filter(&e.text()))).collect();
        let all: Vec<u32> = (0..messages.len() as u32).collect();
        let expected: Vec<Vec<u32>> = exprs.iter().map(|expr| {
            all.iter().copied().filter(|i| expr.holds(&messages[*i as usize])).collect()
        }).collect();
        for (filter, (expr, expected)) in filters.iter().zip(exprs.iter().zip(&expected)) {
            let mut selection = all.clone();
            filter.select(&mut batch, &mut selection, &mut cx);
            prop_assert_eq!(&selection, expected, "{}", expr.text());
        }
        let set = FilterSet::compile(&filters).expect("pure");
        // Twice: the second time from memory.
        for _ in 0..2 {
            let mut found = vec![Vec::new(); filters.len()];
            set.select_all(&batch, &all, &mut cx, &mut found);
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn a_list_of_alternatives_is_one_look_up() {
    let text = (0..200).map(|n| format!("'${{eq.a}}' eq 'v{n}'")).collect::<Vec<_>>().join(" or ");
    let joined = filter(&text);
    assert!(matches!(joined.node(), crate::node::Node::OneOf(list) if list.texts.iter().count() == 200));
    let none = text.replace(" eq ", " ne ").replace(" or ", " and ");
    assert!(matches!(filter(&none).node(), crate::node::Node::Not(_)));
    let mut demand = Demand::default();
    joined.reads(&mut demand);
    assert!(demand.names.contains(&record::intern("eq.a").expect("room")));
    check(&text, "eq.a=v199", true);
    check(&text, "eq.a=v200", false);
    check(&none, "eq.a=v200", true);
}
