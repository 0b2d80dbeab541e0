//! A value compared with many texts at once: `"$x" eq "a" or "$x" eq "b" ...`, and with `and` and `ne` that
//! it is none of them.

use crate::context::Workspace;
use crate::node::Node;
use crate::subject::Subject;
use crate::texts::Texts;
use record::NameId;
use std::sync::Arc;
use template::{Msg, RenderContext};

pub struct OneOf {
    pub subject: Subject,
    pub name: NameId,
    pub texts: Texts,
}

impl OneOf {
    pub fn holds(&self, msg: Msg<'_>, work: &mut Workspace, render: &mut RenderContext) -> bool {
        self.subject.with(msg, work, render, |text, _| self.texts.find(text).is_some())
    }
}

/// Joins comparisons of one value: alternatives (`and` is false) that it is a text, conditions that it is not
/// one. The order of what stays does not change; the caller has made sure that it does not matter.
pub fn joined(parts: Vec<Node>, and: bool) -> Vec<Node> {
    let mut done: Vec<Node> = Vec::with_capacity(parts.len());
    for part in parts {
        let joined = done.iter_mut().any(|before| join(before, &part, and));
        if !joined {
            done.push(part);
        }
    }
    done
}

/// Makes one of both, in the place of the first.
fn join(first: &mut Node, second: &Node, and: bool) -> bool {
    let Some((name, mut texts)) = texts_of(first, and) else { return false };
    let Some((other, more)) = texts_of(second, and) else { return false };
    if name != other || !more.iter().all(|text| texts.add(text).is_some()) {
        return false;
    }
    let made = Node::OneOf(Arc::new(OneOf { subject: Subject::of_name(name), name, texts }));
    *first = if and { Node::Not(Box::new(made)) } else { made };
    true
}

/// The texts of which a value must be one, with `and` none.
fn texts_of(node: &Node, and: bool) -> Option<(NameId, Texts)> {
    match node {
        Node::Compare(compare) => {
            let (name, text, equal) = compare.equality()?;
            let mut texts = Texts::default();
            (equal != and && texts.add(text).is_some()).then_some((name, texts))
        }
        Node::OneOf(list) if !and => Some((list.name, list.texts.clone())),
        Node::Not(inner) if and => match &**inner {
            Node::OneOf(list) => Some((list.name, list.texts.clone())),
            Node::Compare(_) => texts_of(inner, false),
            _ => None,
        },
        Node::Not(inner) => match &**inner {
            // not "$x" ne "a"
            Node::Compare(_) => texts_of(inner, true),
            _ => None,
        },
        _ => None,
    }
}
