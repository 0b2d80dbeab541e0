//! The options of a statement's drivers that are in effect, each with what gives it its value.

use crate::configuration::Configuration;
use crate::outline::{Fact, Node, Outline};
use control::{InEffect, SetBy};

/// `node` is one of the graph: `source:s_net`.
pub fn of(configuration: &Configuration, node: &str) -> Vec<InEffect> {
    let outline = Outline::of(configuration);
    let statement = match node.split_once(':') {
        Some(("source", name)) => outline.sources.get(name),
        Some(("destination", name)) => outline.destinations.get(name),
        _ => None,
    };
    let mut options = Vec::new();
    if let Some(statement) = statement {
        statement.each(&mut |part: &Node| {
            options.extend(part.facts.iter().map(|fact| one(&part.text, fact)));
        });
    }
    options
}

fn one(driver: &str, fact: &Fact) -> InEffect {
    let set_by = match (&fact.global, &fact.at) {
        (Some(_), Some(at)) => SetBy::Global { at: at.clone() },
        (None, Some(at)) => SetBy::Driver { at: at.clone() },
        (_, None) => SetBy::Preset,
    };
    InEffect { driver: driver.to_owned(), name: fact.name.clone(), value: fact.shown(), set_by }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_says_where_its_value_comes_from() {
        let text = "@version: 4.11\noptions { log-fifo-size(77); };\nsource s { internal(); };\n\
                    destination d { network(\"h\" port(99)); };\nlog { source(s); destination(d); };\n";
        let configuration = Configuration::read_text("x.conf", text);
        let options = of(&configuration, "destination:d");
        let found = |name: &str| options.iter().find(|option| option.name == name).expect("an option");
        assert_eq!((found("port").value.as_str(), found("port").driver.as_str()), ("99", "network()"));
        assert_eq!(found("port").set_by, SetBy::Driver { at: "x.conf:4".to_owned() });
        assert!(found("log-fifo-size").set_by == SetBy::Global { at: "x.conf:2".to_owned() });
        assert!(options.iter().any(|option| option.set_by == SetBy::Preset));
        assert_eq!(of(&configuration, "destination:other"), []);
        assert_eq!(of(&configuration, "log:#0"), []);
    }
}
