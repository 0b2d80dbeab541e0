//! A pattern database as it was read: rulesets of programs, rules, and what rules set and do.

use diag::Span;

#[derive(Clone, Debug, Default)]
pub struct Database {
    pub version: u8,
    pub pub_date: String,
    pub rulesets: Vec<Ruleset>,
}

/// The rules for the programs of some patterns; without a pattern, those for programs nothing else knows.
#[derive(Clone, Debug, Default)]
pub struct Ruleset {
    pub name: String,
    pub id: String,
    pub description: String,
    pub urls: Vec<String>,
    pub programs: Vec<Placed>,
    pub rules: Vec<Rule>,
}

/// A text and where it stands.
#[derive(Clone, Debug)]
pub struct Placed {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub id: String,
    pub class: String,
    pub provider: String,
    pub description: String,
    pub urls: Vec<String>,
    pub patterns: Vec<Placed>,
    pub values: Vec<ValueDef>,
    pub tags: Vec<String>,
    pub examples: Vec<Example>,
    pub actions: Vec<Action>,
    pub context: Option<ContextDef>,
    /// That of its context; without one, what the rates of its actions are counted for.
    pub scope: Scope,
    pub span: Span,
}

/// `<value name="x" type="int">template</value>`.
#[derive(Clone, Debug)]
pub struct ValueDef {
    pub name: String,
    /// The name of a type, `""` without one.
    pub kind: String,
    pub template: String,
    pub span: Span,
}

/// Which messages can stand in one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// One program with one process id on one host.
    #[default]
    Process,
    /// One program on one host.
    Program,
    Host,
    Global,
}

impl Scope {
    pub const NAMES: [(&'static str, Scope); 4] = [
        ("process", Scope::Process),
        ("program", Scope::Program),
        ("host", Scope::Host),
        ("global", Scope::Global),
    ];

    pub fn named(name: &str) -> Option<Scope> {
        Scope::NAMES.iter().find(|(n, _)| *n == name).map(|(_, scope)| *scope)
    }

    pub fn name(self) -> &'static str {
        Scope::NAMES.iter().find(|(_, scope)| *scope == self).map_or("process", |(name, _)| name)
    }
}

#[derive(Clone, Debug)]
pub struct ContextDef {
    /// A template.
    pub id: String,
    pub scope: Scope,
    /// Seconds; 0: the context never times out.
    pub timeout_s: u32,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    #[default]
    Match,
    Timeout,
}

/// At most `count` actions in `per_s` seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub count: u32,
    pub per_s: u32,
}

#[derive(Clone, Debug)]
pub struct Action {
    /// A filter expression.
    pub condition: Option<Placed>,
    pub rate: Option<Rate>,
    pub trigger: Trigger,
    pub what: ActionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ActionKind {
    Message(MessageDef),
    CreateContext(ContextDef, MessageDef),
}

/// What a made message has from those that led to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inherit {
    #[default]
    None,
    LastMessage,
    Context,
}

#[derive(Clone, Debug, Default)]
pub struct MessageDef {
    pub inherit: Inherit,
    pub values: Vec<ValueDef>,
    pub tags: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Example {
    pub program: Option<String>,
    pub message: String,
    pub values: Vec<(String, String)>,
    pub span: Span,
}
