//! Rules of a database: patterns, values, tags, examples and actions.

use super::{Interpreter, description};
use crate::model::{
    Action, ActionKind, ContextDef, Example, Inherit, MessageDef, Placed, Rate, Rule, Scope, Trigger,
    ValueDef,
};
use crate::xml::Element;

const CHILDREN: &[&str] = &[
    "pattern",
    "patterns",
    "description",
    "url",
    "urls",
    "value",
    "values",
    "tag",
    "tags",
    "example",
    "examples",
    "action",
    "actions",
];
/// The class of a rule that says none.
const CLASS: &str = "system";
const INHERIT: [(&str, Inherit); 5] = [
    ("none", Inherit::None),
    ("last-message", Inherit::LastMessage),
    ("context", Inherit::Context),
    ("TRUE", Inherit::LastMessage),
    ("FALSE", Inherit::None),
];

impl Interpreter<'_> {
    pub(super) fn rule(&mut self, element: &Element) -> Option<Rule> {
        self.only(element, CHILDREN);
        let id = self.required(element, "id").map(str::to_owned);
        let scope = self.scope(element);
        let context = self.context(element, scope);
        let rule = Rule {
            id: id.unwrap_or_default(),
            class: element.attribute("class").unwrap_or(CLASS).to_owned(),
            provider: element.attribute("provider").unwrap_or_default().to_owned(),
            description: description(element),
            urls: self.texts(element, "urls", "url").into_iter().map(|p| p.text).collect(),
            patterns: self.texts(element, "patterns", "pattern"),
            values: self.values(element),
            tags: self.texts(element, "tags", "tag").into_iter().map(|p| p.text).collect(),
            examples: self.examples(element),
            actions: self.actions(element),
            context,
            scope,
            span: element.span,
        };
        (!rule.id.is_empty()).then_some(rule)
    }

    fn scope(&mut self, element: &Element) -> Scope {
        self.one_of(element, "context-scope", &Scope::NAMES)
    }

    fn context(&mut self, element: &Element, scope: Scope) -> Option<ContextDef> {
        let timeout_s = match element.attribute("context-timeout").map(|t| (t, t.trim().parse())) {
            None => 0,
            Some((_, Ok(seconds))) => seconds,
            Some((text, Err(_))) => {
                let text = format!("`{text}` is no number of seconds");
                self.diags.error("A0205", text, element.span);
                0
            }
        };
        let id = element.attribute("context-id")?.to_owned();
        Some(ContextDef { id, scope, timeout_s, span: element.span })
    }

    fn values(&mut self, element: &Element) -> Vec<ValueDef> {
        let mut values = Vec::new();
        for child in self.inner(element, "values", "value") {
            let Some(name) = self.required(child, "name").map(str::to_owned) else { continue };
            let kind = child.attribute("type").unwrap_or_default().to_owned();
            let Placed { text: template, span } = self.text(child);
            values.push(ValueDef { name, kind, template, span });
        }
        values
    }

    /// `<one>` elements inside `<many>` or directly.
    fn inner<'e>(&mut self, element: &'e Element, many: &str, one: &str) -> Vec<&'e Element> {
        let mut found = Vec::new();
        for child in &element.children {
            if child.name == one {
                found.push(child);
            } else if child.name == many {
                self.only(child, &[one]);
                found.extend(child.children.iter().filter(|c| c.name == one));
            }
        }
        found
    }

    fn examples(&mut self, element: &Element) -> Vec<Example> {
        let mut examples = Vec::new();
        for child in self.inner(element, "examples", "example") {
            self.only(child, &["test_message", "test_values", "test_value"]);
            let Some(message) = child.named("test_message").next() else {
                self.diags.error("A0203", "an `<example>` without `<test_message>`", child.span);
                continue;
            };
            let mut values = Vec::new();
            for value in self.inner(child, "test_values", "test_value") {
                let name = self.required(value, "name").map(str::to_owned);
                let text = self.text(value).text;
                values.extend(name.map(|name| (name, text)));
            }
            let program = message.attribute("program").map(str::to_owned);
            let message = self.text(message);
            examples.push(Example { program, message: message.text, values, span: message.span });
        }
        examples
    }

    fn actions(&mut self, element: &Element) -> Vec<Action> {
        let mut actions = Vec::new();
        for child in self.inner(element, "actions", "action") {
            self.only(child, &["message", "create-context"]);
            let what = match child.children.iter().find(|c| matches!(&*c.name, "message" | "create-context"))
            {
                Some(inner) if inner.name == "message" => Some(ActionKind::Message(self.message(inner))),
                Some(inner) => self.create_context(inner),
                None => {
                    let text = "an `<action>` needs a `<message>` or `<create-context>`";
                    self.diags.error("A0203", text, child.span);
                    None
                }
            };
            let condition = child.attribute("condition");
            let condition = condition.map(|text| Placed { text: text.to_owned(), span: child.span });
            let trigger =
                self.one_of(child, "trigger", &[("match", Trigger::Match), ("timeout", Trigger::Timeout)]);
            let rate = self.rate(child);
            actions.extend(what.map(|what| Action { condition, rate, trigger, what, span: child.span }));
        }
        actions
    }

    /// `rate="count/seconds"`; without seconds, in one.
    fn rate(&mut self, element: &Element) -> Option<Rate> {
        let text = element.attribute("rate")?;
        let (count, per) = text.split_once('/').unwrap_or((text, "1"));
        match (count.trim().parse(), per.trim().parse()) {
            (Ok(count), Ok(per_s)) if count > 0 && per_s > 0 => Some(Rate { count, per_s }),
            _ => {
                let text = format!("`{text}` is no rate: as `1/60`, one in 60 seconds");
                self.diags.error("A0205", text, element.span);
                None
            }
        }
    }

    fn message(&mut self, element: &Element) -> MessageDef {
        self.only(element, &["values", "value", "tags", "tag"]);
        let name =
            if element.attribute("inherit-mode").is_some() { "inherit-mode" } else { "inherit-properties" };
        MessageDef {
            inherit: self.one_of(element, name, &INHERIT),
            values: self.values(element),
            tags: self.texts(element, "tags", "tag").into_iter().map(|p| p.text).collect(),
        }
    }

    fn create_context(&mut self, element: &Element) -> Option<ActionKind> {
        self.only(element, &["message"]);
        self.required(element, "context-id")?;
        let scope = self.scope(element);
        let context = self.context(element, scope)?;
        let message = element.named("message").next();
        let message = message.map(|m| self.message(m)).unwrap_or_default();
        Some(ActionKind::CreateContext(context, message))
    }
}
