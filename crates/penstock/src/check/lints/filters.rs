//! Conditions that hold for no message, or for all.

use super::Lints;
use conf_syntax::{Call, CompareOp, Config, FilterExpr, LogItem, Operand, OperandKind, Statement};
use diag::{Diagnostic, Span};
use std::collections::{BTreeSet, HashMap};

/// References followed one behind the other.
const DEPTH_MAX: usize = 20;
/// What a message has one of.
const ONE_EACH: [&str; 2] = ["facility", "level"];
/// Patterns that match any text.
const ANYTHING: [&str; 6] = ["", ".*", "^.*", ".*$", "^.*$", "^"];
/// Severities there are.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "err", "crit", "alert", "emerg"];

pub fn look(config: &Config, lints: &mut Lints<'_>) {
    let mut search = Search { filters: HashMap::new(), lints };
    for statement in &config.items {
        if let Statement::Filter(filter) = statement {
            search.filters.extend(filter.expr.as_ref().map(|expr| (filter.name.text.as_str(), expr)));
        }
    }
    for statement in &config.items {
        match statement {
            Statement::Filter(filter) => filter.expr.iter().for_each(|expr| search.condition(expr)),
            Statement::Log(path) => search.items(&path.items),
            _ => {}
        }
    }
}

struct Search<'c, 'l, 's> {
    filters: HashMap<&'c str, &'c FilterExpr>,
    lints: &'l mut Lints<'s>,
}

impl<'c> Search<'c, '_, '_> {
    fn items(&mut self, items: &'c [LogItem]) {
        // Filters in a row have to hold together.
        let mut row: Vec<&'c FilterExpr> = Vec::new();
        for item in items {
            let filter = match item {
                LogItem::InlineFilter(expr, _) => expr.as_ref(),
                LogItem::Reference(r) if r.kind == conf_syntax::ObjectKind::Filter => {
                    self.filters.get(r.name.text.as_str()).copied()
                }
                _ => None,
            };
            if let LogItem::InlineFilter(Some(expr), _) = item {
                self.condition(expr);
            }
            let Some(filter) = filter else {
                row.clear();
                self.item(item);
                continue;
            };
            let before: Vec<&FilterExpr> = row.iter().flat_map(|expr| self.terms(expr, 0)).collect();
            let these = self.terms(filter, 0);
            let together: Vec<&FilterExpr> = before.iter().chain(&these).copied().collect();
            let is_new = contradiction(&before).is_none() && contradiction(&these).is_none();
            if let Some(why) = contradiction(&together).filter(|_| is_new) {
                self.never(item.span(), &format!("with the filters before it, {why}"));
            }
            row.push(filter);
        }
    }

    fn item(&mut self, item: &'c LogItem) {
        match item {
            LogItem::Junction(inner, _) => self.items(inner),
            LogItem::Channel(path) | LogItem::Log(path) => self.items(&path.items),
            LogItem::If(choice) => {
                for branch in &choice.branches {
                    branch.condition.iter().for_each(|condition| self.condition(condition));
                    self.items(&branch.body.items);
                }
                choice.otherwise.iter().for_each(|path| self.items(&path.items));
            }
            _ => {}
        }
    }

    fn condition(&mut self, expr: &'c FilterExpr) {
        match constant(expr) {
            Some(true) => self.always(expr.span()),
            Some(false) => self.never(expr.span(), "its operands are fixed texts"),
            None => self.parts(expr),
        }
    }

    fn parts(&mut self, expr: &'c FilterExpr) {
        match expr {
            FilterExpr::Not(inner, _) => self.parts(inner),
            FilterExpr::And(all, span) => {
                let terms = self.terms(expr, 0);
                if let Some(why) = contradiction(&terms) {
                    self.never(*span, &why);
                    return;
                }
                all.iter().for_each(|part| self.condition(part));
            }
            FilterExpr::Or(all, span) => {
                let texts: BTreeSet<String> = all.iter().map(FilterExpr::canonical).collect();
                if all.iter().any(|part| texts.contains(&opposite(part))) {
                    self.always(*span);
                    return;
                }
                all.iter().for_each(|part| self.condition(part));
            }
            FilterExpr::Call(_) | FilterExpr::Compare { .. } => {}
        }
    }

    /// What has to hold together, references followed.
    fn terms<'e>(&self, expr: &'e FilterExpr, depth: usize) -> Vec<&'e FilterExpr>
    where
        'c: 'e,
    {
        match expr {
            FilterExpr::And(all, _) => all.iter().flat_map(|part| self.terms(part, depth)).collect(),
            FilterExpr::Call(call) if call.is("filter") && depth < DEPTH_MAX => {
                let name = call.args.first().and_then(|arg| arg.text());
                match name.and_then(|name| self.filters.get(name)) {
                    Some(inner) => self.terms(inner, depth + 1),
                    None => vec![expr],
                }
            }
            _ => vec![expr],
        }
    }

    fn never(&mut self, span: Span, why: &str) {
        let help = "join the parts by `or`, or correct them";
        let text = format!("this never holds: {why}");
        self.lints.add(Diagnostic::warning("L0103", text, span).help(help));
    }

    fn always(&mut self, span: Span) {
        let finding = Diagnostic::warning("L0104", "this holds for every message", span);
        self.lints.add(finding.help("leave it out, or correct it"));
    }
}

/// Why no message fits all of these.
fn contradiction(terms: &[&FilterExpr]) -> Option<String> {
    for name in ONE_EACH {
        let sets: Vec<BTreeSet<String>> = terms.iter().filter_map(|term| words(term, name)).collect();
        let apart = sets.iter().enumerate().any(|(n, a)| sets.iter().skip(n + 1).any(|b| a.is_disjoint(b)));
        if apart {
            return Some(format!("a message has one {name}, and this asks for two"));
        }
    }
    let equals: Vec<(String, String)> = terms.iter().filter_map(|term| equal_to(term)).collect();
    for (n, (name, text)) in equals.iter().enumerate() {
        if equals.iter().skip(n + 1).any(|(other, its)| other == name && its != text) {
            return Some(format!("{name} cannot be two texts"));
        }
    }
    let texts: BTreeSet<String> = terms.iter().map(|term| term.canonical()).collect();
    let both = terms.iter().find(|term| texts.contains(&opposite(term)))?;
    Some(format!("it asks for {} and the opposite", both.canonical()))
}

/// The same turned round, as it would be written.
fn opposite(expr: &FilterExpr) -> String {
    match expr {
        FilterExpr::Not(inner, _) => inner.canonical(),
        FilterExpr::And(..) | FilterExpr::Or(..) => format!("not ({})", expr.canonical()),
        _ => format!("not {}", expr.canonical()),
    }
}

/// `"$X" eq "text"`
fn equal_to(expr: &FilterExpr) -> Option<(String, String)> {
    let FilterExpr::Compare { lhs, op: CompareOp::StrEq, rhs, .. } = expr else { return None };
    let is_value = |operand: &Operand| operand.canonical().contains('$');
    (is_value(lhs) && !is_value(rhs)).then(|| (lhs.canonical(), rhs.canonical()))
}

/// Whether it is known without a message.
fn constant(expr: &FilterExpr) -> Option<bool> {
    match expr {
        FilterExpr::Compare { lhs, op, rhs, .. } => {
            let (left, right) = (text(lhs)?, text(rhs)?);
            // `"1" eq "0"` is how one says never.
            if [left, right].iter().all(|text| text.chars().all(|c| c.is_ascii_digit())) {
                return None;
            }
            match op {
                CompareOp::StrEq => Some(left == right),
                CompareOp::StrNe => Some(left != right),
                _ => None,
            }
        }
        FilterExpr::Call(call) if call.is("level") || call.is("severity") || call.is("priority") => {
            (levels(call)?.len() == LEVELS.len()).then_some(true)
        }
        FilterExpr::Call(call) => matches_all(call).then_some(true),
        _ => None,
    }
}

/// An operand without anything of a message in it.
fn text(operand: &Operand) -> Option<&str> {
    match &operand.kind {
        OperandKind::Template(text) if !operand.bare && !text.text.contains('$') => Some(&text.text),
        _ => None,
    }
}

fn matches_all(call: &Call) -> bool {
    let is_pattern = ["match", "message", "msg", "program", "host"].iter().any(|name| call.is(name));
    // One that stores what it matched has another purpose.
    let is_plain = call.options().all(|option| option.is("value") || option.is("template"));
    let mut values = call.values();
    let first = values.next().and_then(|arg| arg.text());
    is_pattern && is_plain && values.next().is_none() && first.is_some_and(|text| ANYTHING.contains(&text))
}

/// The facilities or levels that a call names; None for anything else.
fn words(expr: &FilterExpr, name: &str) -> Option<BTreeSet<String>> {
    let FilterExpr::Call(call) = expr else { return None };
    match name {
        "level" if call.is("level") || call.is("severity") || call.is("priority") => levels(call),
        "facility" if call.is("facility") => {
            let words: Option<BTreeSet<String>> =
                call.args.iter().map(|arg| arg.text().map(str::to_lowercase)).collect();
            words.filter(|words| !words.is_empty())
        }
        _ => None,
    }
}

fn levels(call: &Call) -> Option<BTreeSet<String>> {
    let number = |word: &str| {
        let word = word.to_lowercase();
        let word = match word.as_str() {
            "warn" => "warning",
            "error" => "err",
            "panic" => "emerg",
            "critical" => "crit",
            word => word,
        };
        LEVELS.iter().position(|level| *level == word)
    };
    let mut found = BTreeSet::new();
    for arg in &call.args {
        let (from, to) = match &arg.kind {
            conf_syntax::ArgKind::Range(from, to) => (number(from.text()?)?, number(to.text()?)?),
            _ => {
                let one = number(arg.text()?)?;
                (one, one)
            }
        };
        let range = from.min(to)..=from.max(to);
        found.extend(
            LEVELS
                .iter()
                .enumerate()
                .filter(|(n, _)| range.contains(n))
                .map(|(_, level)| (*level).to_owned()),
        );
    }
    (!found.is_empty()).then_some(found)
}
