//! The one renderer: findings as text for people, and as JSON for programs.

use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Diagnostics, Label, Replacement, Severity};
use crate::source_map::{Origin, SourceMap, Span};

/// Longer source lines are cut around the mark, so that one minified line does not fill the screen.
const LINE_CHARS_MAX: usize = 160;
/// Longer chains are cut in the middle.
const CHAIN_SHOWN_MAX: usize = 12;

/// How many different remarks the line for all of them names.
const REMARKS_NAMED_MAX: usize = 3;

/// Errors and warnings, in reading order, with a last line that counts them; one line for all remarks.
pub fn render_all(diagnostics: &Diagnostics, map: &SourceMap) -> String {
    let findings = diagnostics.sorted(map);
    let (remarks, findings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|d| d.severity == Severity::Remark);
    let mut out: String = findings.into_iter().map(|d| render_one(d, map)).collect();
    out.push_str(&count_line(diagnostics));
    out.push_str(&remarks_line(&remarks));
    out
}

/// The same, with each remark in its place.
pub fn render_verbose(diagnostics: &Diagnostics, map: &SourceMap) -> String {
    let mut out: String = diagnostics.sorted(map).into_iter().map(|d| render_one(d, map)).collect();
    out.push_str(&count_line(diagnostics));
    out
}

/// What the remarks say, each once, with how often it was said.
pub fn remarks_line(remarks: &[&Diagnostic]) -> String {
    let mut said: Vec<(&str, usize)> = Vec::new();
    for remark in remarks {
        match said.iter_mut().find(|(message, _)| *message == remark.message) {
            Some((_, count)) => *count += 1,
            None => said.push((&remark.message, 1)),
        }
    }
    let (Some(_), more) = (said.first(), said.len().saturating_sub(REMARKS_NAMED_MAX)) else {
        return String::new();
    };
    let named = said.iter().take(REMARKS_NAMED_MAX).map(|(message, count)| match count {
        1 => (*message).to_owned(),
        _ => format!("{message} ({count} times)"),
    });
    let named: Vec<String> = named.collect();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("harmless: {}{more} (`penstock check --verbose` shows where)\n", named.join("; "))
}

fn count_line(diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    let (errors, warnings) = diagnostics.counts();
    if errors + warnings > 0 {
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        out.push_str(&format!("{}, {}\n", plural(errors, "error"), plural(warnings, "warning")));
    }
    if diagnostics.suppressed() > 0 {
        out.push_str(&format!("{} more not shown\n", diagnostics.suppressed()));
    }
    out
}

/// One finding: `file:line:column: error[CODE]: message`, the line with the place marked, the chain, notes,
/// help.
pub fn render_one(d: &Diagnostic, map: &SourceMap) -> String {
    let mut out = String::new();
    let head = format!("{}[{}]: {}\n", d.severity.as_str(), d.code, d.message);
    match d.span {
        None => out.push_str(&head),
        Some(span) => {
            out.push_str(&format!("{}: {head}", map.locate(span)));
            excerpt(&mut out, map, span, "");
            chain_text(&mut out, map, span);
        }
    }
    for Label { span, message } in &d.labels {
        out.push_str(&format!("  {}: note: {message}\n", map.locate(*span)));
        excerpt(&mut out, map, *span, "");
    }
    for note in &d.notes {
        out.push_str(&format!("  note: {note}\n"));
    }
    match d.more {
        0 => {}
        1 => out.push_str("  note: the same at 1 more place\n"),
        more => out.push_str(&format!("  note: the same at {more} more places\n")),
    }
    if let Some(help) = &d.help {
        out.push_str(&format!("  help: {help}\n"));
    }
    out
}

fn excerpt(out: &mut String, map: &SourceMap, span: Span, indent: &str) {
    let Some((line, from, to)) = map.line(span) else { return };
    let number = map.locate(span).line;
    let count = |end: usize| line.get(..end).map_or(0, |s| s.chars().count());
    let (from, to) = (count(from), count(to));
    let first = if line.len() <= LINE_CHARS_MAX { 0 } else { from.saturating_sub(LINE_CHARS_MAX / 2) };
    let mut rest = line.chars().skip(first);
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = rest.by_ref().take(LINE_CHARS_MAX).map(clean).collect();
    let last = first + shown.chars().count();
    let lead = if first > 0 { "..." } else { "" };
    let tail = if rest.next().is_some() { "..." } else { "" };
    out.push_str(&format!("{indent}{number:>5} | {lead}{shown}{tail}\n"));
    let blank = lead.len() + from - first;
    let carets = to.min(last).saturating_sub(from).max(1);
    out.push_str(&format!("{indent}      | {}{}\n", " ".repeat(blank), "^".repeat(carets)));
}

fn chain_text(out: &mut String, map: &SourceMap, span: Span) {
    let chain = map.chain(span);
    for (i, (origin, at)) in chain.iter().enumerate() {
        if chain.len() > CHAIN_SHOWN_MAX && i == CHAIN_SHOWN_MAX / 2 {
            out.push_str(&format!("  ... {} more ...\n", chain.len() - CHAIN_SHOWN_MAX));
        }
        let hidden = CHAIN_SHOWN_MAX / 2..chain.len().saturating_sub(CHAIN_SHOWN_MAX / 2);
        if chain.len() > CHAIN_SHOWN_MAX && hidden.contains(&i) {
            continue;
        }
        match origin {
            Origin::Expanded { block, .. } => {
                out.push_str(&format!("  expanded from block `{block}` called at {at}\n"));
            }
            _ => out.push_str(&format!("  included from {at}\n")),
        }
    }
}

/// `{"errors": n, "warnings": n, "remarks": n, "diagnostics": [...]}`; positions count from 1.
pub fn render_json(diagnostics: &Diagnostics, map: &SourceMap) -> Value {
    let (errors, warnings) = diagnostics.counts();
    let remarks = diagnostics.iter().filter(|d| d.severity == Severity::Remark).count();
    let list: Vec<Value> = diagnostics.sorted(map).into_iter().map(|d| one_json(d, map)).collect();
    json!({
        "errors": errors,
        "warnings": warnings,
        "remarks": remarks,
        "suppressed": diagnostics.suppressed(),
        "diagnostics": list,
    })
}

fn one_json(d: &Diagnostic, map: &SourceMap) -> Value {
    let chain: Vec<Value> =
        d.span.map(|s| map.chain(s)).unwrap_or_default().into_iter().map(chain_json).collect();
    let labels: Vec<Value> =
        d.labels.iter().map(|l| json!({"message": l.message, "place": place_json(l.span, map)})).collect();
    json!({
        "code": d.code,
        "severity": d.severity.as_str(),
        "message": d.message,
        "place": d.span.map(|s| place_json(s, map)),
        "chain": chain,
        "labels": labels,
        "notes": d.notes,
        "help": d.help,
        "fix": fix(d, map),
        "more": d.more,
    })
}

/// The help as a change of the text: what to put in place of the bytes at a place of a real file.
fn fix(d: &Diagnostic, map: &SourceMap) -> Option<Value> {
    let (span, new) = replacement(d, map)?;
    Some(json!({ "place": place_json(span, map), "old": map.text(span), "new": new }))
}

/// What a finding puts in the place of which text.
pub fn replacement<'d>(d: &'d Diagnostic, map: &SourceMap) -> Option<(Span, &'d str)> {
    // What a backtick gave is not what is written there.
    let span = d.span.filter(|span| map.text(*span) == map.text(map.real(*span)))?;
    let is_word = |text: &str| {
        !text.is_empty() && text.chars().all(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    match d.replacement.as_ref()? {
        Replacement::Word(new) => (is_word(map.text(span)) && is_word(new)).then_some((span, new.as_str())),
        Replacement::Text(new) => Some((span, new.as_str())),
    }
}

fn chain_json((origin, at): (&Origin, crate::Location)) -> Value {
    let (kind, block) = match origin {
        Origin::Expanded { block, .. } => ("expanded", Some(block)),
        _ => ("included", None),
    };
    json!({"kind": kind, "block": block, "file": at.file, "line": at.line, "column": at.column})
}

fn place_json(span: Span, map: &SourceMap) -> Value {
    let (start, end) = (map.locate(span), map.locate_end(span));
    json!({
        "file": start.file,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "text": map.line(span).map(|(line, _, _)| line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_place_line_mark_chain_and_help() {
        let mut map = SourceMap::new();
        let main = map.add_root("main.conf", "@include \"x\"\n");
        let at = Span::new(main, 0, 12);
        let inc = map.add("x.conf", "source s {\n\ttpc();\n};\n", Origin::Included { at });
        let d = Diagnostic::error("T0001", "unknown driver `tpc`", Span::new(inc, 12, 15))
            .label(Span::new(inc, 7, 8), "in this source")
            .note("a note")
            .help("did you mean `tcp`?");
        let expected = "\
x.conf:2:2: error[T0001]: unknown driver `tpc`
    2 |  tpc();
      |  ^^^
  included from main.conf:1:1
  x.conf:1:8: note: in this source
    1 | source s {
      |        ^
  note: a note
  help: did you mean `tcp`?
";
        assert_eq!(render_one(&d, &map), expected);
    }

    #[test]
    fn json_has_the_same_facts() {
        let mut map = SourceMap::new();
        let f = map.add_root("m", "abc def\n");
        let mut all = Diagnostics::new();
        all.push(Diagnostic::warning("T0002", "odd", Span::new(f, 4, 7)).help("change it"));
        let v = render_json(&all, &map);
        assert_eq!(v["warnings"], 1);
        let d = &v["diagnostics"][0];
        assert_eq!((&d["code"], &d["severity"]), (&json!("T0002"), &json!("warning")));
        assert_eq!(d["place"]["column"], 5);
        assert_eq!(d["place"]["end_column"], 8);
        assert_eq!(d["place"]["text"], "abc def");
        assert_eq!(d["help"], "change it");
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let mut map = SourceMap::new();
        let f = map.add_root("m", format!("{}X{}", "a".repeat(5000), "b".repeat(5000)));
        let text = render_one(&Diagnostic::error("T0003", "here", Span::new(f, 5000, 5001)), &map);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].len() < 200, "{}", lines[1].len());
        assert_eq!(lines[1].find('X'), lines[2].find('^'));
    }

    #[test]
    fn remarks_have_one_line_together() {
        let mut map = SourceMap::new();
        let f = map.add_root("m", "abcdefgh\n");
        let mut all = Diagnostics::new();
        for (at, text) in ["old", "gone", "old", "third", "fourth"].iter().enumerate() {
            all.push(Diagnostic::remark("T0005", *text, Span::new(f, at, at + 1)));
        }
        let expected =
            "harmless: old (2 times); gone; third; and 1 more (`penstock check --verbose` shows where)\n";
        assert_eq!(render_all(&all, &map), expected);
        assert_eq!((all.counts(), all.has_errors()), ((0, 0), false));
        assert_eq!(render_verbose(&all, &map).matches("remark[T0005]").count(), 5);
        let json = render_json(&all, &map);
        assert_eq!((&json["remarks"], &json["warnings"]), (&json!(5), &json!(0)));
        assert_eq!(json["diagnostics"][0]["severity"], "remark");
    }

    #[test]
    fn the_last_line_counts() {
        let mut map = SourceMap::new();
        let f = map.add_root("m", "a\n");
        let mut all = Diagnostics::new();
        assert_eq!(render_all(&all, &map), "");
        all.error("T0004", "x", Span::new(f, 0, 1));
        assert!(render_all(&all, &map).ends_with("\n1 error, 0 warnings\n"));
    }
}
