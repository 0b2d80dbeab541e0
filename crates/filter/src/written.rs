//! A filter expression as it stands in the configuration, to be told condition by condition how a message is
//! judged.
//!
//! The expression that messages normally run through merges conditions and asks the cheap ones first. This
//! one keeps all of them, in the order of the text, and stops where `and` and `or` stop. Both share what a
//! condition is made of, so it costs little to have.

use crate::called::Called;
use crate::context::FilterContext;
use crate::node::Node;
use crate::subject::Subject;
use record::pri;
use std::sync::Arc;
use template::Msg;

pub enum Written {
    Not(Box<Written>),
    And(Vec<Written>),
    Or(Vec<Written>),
    /// A call of a filter function, by the name that the manual has for it, and what it asks for.
    Call(&'static str, Node, Box<str>),
    /// A comparison with its operator, and its sides as they are written; empty where one is a text itself.
    Compare(&'static str, Node, [Box<str>; 2]),
    /// `filter(NAME)`.
    Named(Arc<Called>),
}

/// A condition that was, or is about to be, asked about a message.
pub struct Judged<'a> {
    /// The filter function; `cmp` for a comparison.
    pub function: &'static str,
    /// What it looks at, by name: the text, the pattern, the two sides.
    pub operands: &'a [(&'static str, &'a [u8])],
    /// What it asks for, in the words of the configuration, and how: of no interest where the log says it in
    /// syslog-ng's words.
    pub asks: &'a [(&'static str, &'a [u8])],
    /// Whether it holds; `None` while that is still to be found out.
    pub holds: Option<bool>,
}

/// Is told of each condition twice: before it is asked, and when the answer is known.
pub type Witness<'a> = dyn FnMut(&Judged<'_>) + 'a;

/// How a comparison is called in the log.
const COMPARISON: &str = "cmp";

impl Written {
    /// Whether the expression holds for a record of the batch. Matches are stored and tokens of rates taken
    /// as usual.
    pub fn judge(
        &self,
        batch: &mut record::Batch,
        index: usize,
        cx: &mut FilterContext,
        witness: &mut Witness<'_>,
    ) -> bool {
        match self {
            Written::Not(inner) => !inner.judge(batch, index, cx, witness),
            Written::And(parts) => parts.iter().all(|part| part.judge(batch, index, cx, witness)),
            Written::Or(parts) => parts.iter().any(|part| part.judge(batch, index, cx, witness)),
            Written::Named(called) => {
                let operands: [(&'static str, &[u8]); 1] = [("called-rule", called.name.as_bytes())];
                witness(&Judged { function: "filter", operands: &operands, asks: &[], holds: None });
                let holds = called.filter.judge(batch, index, cx, witness);
                called.count(usize::from(holds), usize::from(!holds));
                witness(&Judged { function: "filter", operands: &operands, asks: &[], holds: Some(holds) });
                holds
            }
            Written::Call(function, node, asks) => {
                let asks = [("asks-for", &**asks)];
                leaf(&Condition { function, operator: "", node, asks: &asks }, (batch, index), cx, witness)
            }
            Written::Compare(operator, node, [left, right]) => {
                let asks = [("left-is", &**left), ("right-is", &**right)];
                let condition = Condition { function: COMPARISON, operator, node, asks: &asks };
                leaf(&condition, (batch, index), cx, witness)
            }
        }
    }
}

/// Asks one condition. What it looks at is copied first: asking may change the message.
fn leaf(
    condition: &Condition<'_>,
    (batch, index): (&mut record::Batch, usize),
    cx: &mut FilterContext,
    witness: &mut Witness<'_>,
) -> bool {
    let (function, node) = (condition.function, condition.node);
    let (seen, compared_as) = match batch.records.get(index) {
        Some(record) => {
            let msg = Msg { batch, record };
            (operands(node, condition.operator, msg, cx), compared_as(node, msg, cx))
        }
        None => return false,
    };
    let seen: Vec<(&'static str, &[u8])> = seen.iter().map(|(name, text)| (*name, &**text)).collect();
    let asks: Vec<(&'static str, &[u8])> = (condition.asks.iter().copied())
        .chain([("compared-as", compared_as)])
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name, text.as_bytes()))
        .collect();
    witness(&Judged { function, operands: &seen, asks: &asks, holds: None });
    let mut selection: Vec<u32> = u32::try_from(index).into_iter().collect();
    node.narrow(batch, &mut selection, &mut cx.work, &mut cx.render);
    let holds = !selection.is_empty();
    witness(&Judged { function, operands: &seen, asks: &asks, holds: Some(holds) });
    holds
}

/// A single condition, as it is told of.
struct Condition<'a> {
    function: &'static str,
    operator: &'static str,
    node: &'a Node,
    asks: &'a [(&'static str, &'a str)],
}

type Operands = Vec<(&'static str, Vec<u8>)>;

fn operands(node: &Node, operator: &str, msg: Msg<'_>, cx: &mut FilterContext) -> Operands {
    match node {
        Node::Match(matcher) => {
            let name = matcher.subject.name().map(|name| ("name", msg.batch.name_of(name).into()));
            let looked_at =
                [("value", text_of(&matcher.subject, msg, cx)), ("pattern", matcher.pattern.text().into())];
            name.into_iter().chain(looked_at).collect()
        }
        Node::Compare(compare) => {
            let (left, right) = compare.sides(msg, &mut cx.render);
            vec![("left", left), ("operator", operator.into()), ("right", right)]
        }
        Node::InList(list) => {
            let name = list.subject.name().map(|name| ("name", msg.batch.name_of(name).into()));
            name.into_iter().chain([("value", text_of(&list.subject, msg, cx))]).collect()
        }
        Node::Pri(_) => {
            let (facility, severity) = (msg.record.pri >> 3, msg.record.pri & 7);
            let named = |names: &[&str], number: u16| {
                names.get(usize::from(number)).map_or_else(|| number.to_string(), |name| (*name).to_owned())
            };
            vec![
                ("facility", named(&pri::FACILITIES, facility).into()),
                ("severity", named(&pri::SEVERITIES, severity).into()),
            ]
        }
        Node::Tags { .. } => {
            let tags = msg.batch.tags(msg.record);
            let names: Vec<&str> = tags.iter().map(|tag| msg.batch.tag_name(*tag)).collect();
            vec![("tags", names.join(",").into())]
        }
        Node::Net(_) => vec![("address", address(msg).into())],
        _ => Vec::new(),
    }
}

/// How a comparison compares, where its operator alone does not say it.
fn compared_as(node: &Node, msg: Msg<'_>, cx: &mut FilterContext) -> &'static str {
    match node {
        Node::Compare(compare) => compare.compares_as(msg, &mut cx.render),
        _ => "",
    }
}

fn text_of(subject: &Subject, msg: Msg<'_>, cx: &mut FilterContext) -> Vec<u8> {
    let mut buffer = Vec::new();
    subject.text(msg, &mut cx.render, &mut buffer).to_vec()
}

fn address(msg: Msg<'_>) -> String {
    match msg.batch.context(msg.record).map(|context| &context.peer) {
        Some(record::Peer::Inet { remote, .. }) => remote.ip().to_canonical().to_string(),
        _ => "local".to_owned(),
    }
}

#[cfg(test)]
mod tests;
