//! Options as facts: what is in effect, given or not.

use super::{Fact, Maker, Node};
use crate::subject::secrets;
use conf_schema::{Component, Context, Effective, ReadContext, Settings, Source};
use conf_syntax::Call;
use diag::Diagnostics;
use driver_options::ports;

impl Maker<'_> {
    /// The global options, and the version of the language.
    pub fn options(&self) -> Node {
        let mut facts = self.facts(&self.globals);
        let version = self.version.map_or_else(|| "the newest".to_owned(), |version| version.to_string());
        facts.insert(0, Fact { name: "@version".to_owned(), value: version, global: None, at: None });
        Node { kind: "options", facts, ..Node::default() }
    }

    /// A driver, parser or rewrite operation.
    pub fn call(&self, call: &Call, context: Option<Context>) -> Node {
        let kind = match context {
            Some(Context::Parser) => "parser",
            Some(Context::Rewrite) => "rewrite",
            _ => "driver",
        };
        let at = self.at(self.sources.outermost(call.span));
        let component = context.and_then(|context| self.component(context, &call.name.text));
        let Some(component) = component.filter(|_| context != Some(Context::Rewrite)) else {
            return Node { kind, text: call.canonical(), at, ..Node::default() };
        };
        if component.name == "app-parser" {
            self.tries_applications.set(true);
        }
        let text = format!("{}()", component.name);
        let mut facts = self.facts(&self.settings(call, component));
        settle_address(component.name, &mut facts);
        Node { kind, text, facts, at, ..Node::default() }
    }

    fn settings(&self, call: &Call, component: &'static Component) -> Settings {
        let read = ReadContext { sources: self.sources, globals: Some(self.globals.clone()) };
        conf_schema::read(call, component, &read, &mut Diagnostics::new())
    }

    fn facts(&self, settings: &Settings) -> Vec<Fact> {
        let named = |name: &str| self.template(name);
        let mut facts: Vec<Fact> =
            settings.effective(&named).into_iter().map(|effective| self.fact(effective)).collect();
        facts.sort_by(|a, b| a.name.cmp(&b.name));
        facts
    }

    fn fact(&self, effective: Effective) -> Fact {
        let Effective { name, value, source, span } = effective;
        let global = match source {
            Source::Global(name) => Some(name),
            Source::Given | Source::Preset => None,
        };
        Fact { value, global, at: span.map(|span| self.at(span)), name }
    }
}

/// Addresses and ports have the value that they have when they are left out: all addresses, and the port of
/// the transport.
fn settle_address(driver: &str, facts: &mut Vec<Fact>) {
    facts.retain(|fact| !(matches!(fact.name.as_str(), "ip" | "localip") && fact.value == "\"0.0.0.0\""));
    if !matches!(driver, "network" | "syslog") || facts.iter().any(|fact| fact.name == "port") {
        return;
    }
    let transport = facts.iter().find(|fact| fact.name == "transport").map_or("", |fact| &fact.value);
    let port = match (driver, transport) {
        (_, "\"rltp\"") => ports::RLTP,
        ("network", _) => 514,
        (_, transport) if transport.contains("udp") => 514,
        (_, transport) if transport.contains("tls") => 6514,
        _ => 601,
    };
    let at = facts.partition_point(|fact| fact.name.as_str() < "port");
    facts.insert(at, Fact { name: "port".to_owned(), value: port.to_string(), global: None, at: None });
}

impl Fact {
    /// As it may be shown.
    pub fn shown(&self) -> String {
        let text = secrets::blotted(&format!("{}({})", self.name, self.value));
        let inner = text.strip_prefix(&format!("{}(", self.name)).and_then(|text| text.strip_suffix(')'));
        inner.map_or(text.clone(), str::to_owned)
    }
}
