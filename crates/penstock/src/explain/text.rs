//! Explained messages as text for people.

use super::suspicion;
use super::tree::{Fate, Node, Reached, Tree};
use engine::watch::inquiry::{Happened, Story, Text};
use engine::watch::{Kind, Verdict};
use engine::{Detail, End, Said};
use record::Peer;
use std::fmt::Write;
use std::time::Duration;

/// Characters of one text that are shown.
const SHOWN_MAX: usize = 400;
/// Messages that one was made of, of which the texts are shown.
const PARTS_SHOWN_MAX: usize = 20;
/// Log paths and branches side by side that stopped the message and are shown.
const STOPPED_MAX: usize = 20;
/// Steps that were not reached and are named, of those that stand together.
const MISSED_MAX: usize = 5;

pub fn render<'s, 't>(stories: impl Iterator<Item = (&'s Story, Tree<'t>)>) -> String {
    let mut out = String::new();
    for (story, tree) in stories {
        if !out.is_empty() {
            out.push('\n');
        }
        one(&mut out, story, &tree);
    }
    out
}

fn one(out: &mut String, story: &Story, tree: &Tree<'_>) {
    let _ = write!(out, "message at source {} ({})", story.source, story.instance);
    if let Peer::Inet { remote, .. } = &story.peer {
        let _ = write!(out, " from {remote}");
    }
    if story.received > 0 {
        let _ = write!(out, ", RCPTID {}", story.received);
    }
    out.push('\n');
    if let Some(text) = tree.received {
        let _ = writeln!(out, "  {} bytes: {}", text.bytes, shown(text));
    }
    for doubt in suspicion::doubts(story, tree) {
        let _ = writeln!(out, "  suspicious: {doubt}");
    }
    for value in &tree.values {
        event(out, 1, value);
    }
    let mut stopped = Stopped::default();
    for root in &tree.roots {
        if !stopped.leaves_out(root) {
            node(out, 0, root);
        }
    }
    stopped.end(out, 0);
    if story.is_cut {
        out.push_str("more happened than is kept\n");
    }
    match tree.destinations.as_slice() {
        [] => out.push_str("outcome: no destination gets it\n"),
        names => {
            let _ = writeln!(out, "outcome: {}", names.join(", "));
        }
    }
}

fn node(out: &mut String, depth: usize, node: &Node<'_>) {
    let Some(reached) = &node.reached else { return };
    let indent = "  ".repeat(depth);
    let _ = write!(out, "{indent}{}", node.label);
    if !node.location.is_empty() {
        let _ = write!(out, "  {}", node.location);
    }
    if let Some(verdict) = verdict(node.kind, reached) {
        let _ = write!(out, "  {verdict}");
    }
    if let Some(took) = reached.took {
        let _ = write!(out, "  {}", duration(took));
    }
    out.push('\n');
    for happened in &reached.events {
        event(out, depth + 1, happened);
    }
    let is_output = |event: &&Happened| matches!(event, Happened::Queued { .. } | Happened::NotQueued { .. });
    if reached.events.iter().any(is_output) {
        fate(out, depth + 1, reached);
    }
    let mut missed: Vec<&Node<'_>> = Vec::new();
    let mut stopped = Stopped::default();
    for child in &node.children {
        match child.reached {
            Some(_) if stopped.leaves_out(child) => {}
            Some(_) => {
                self::missed(out, depth + 1, &mut missed);
                self::node(out, depth + 1, child);
            }
            None => missed.push(child),
        }
    }
    self::missed(out, depth + 1, &mut missed);
    stopped.end(out, depth + 1);
}

/// Log paths or branches side by side that did not let the message through, as they were met.
#[derive(Default)]
struct Stopped {
    shown: usize,
    left_out: usize,
}

impl Stopped {
    /// Whether there were enough of them before.
    fn leaves_out(&mut self, node: &Node<'_>) -> bool {
        let is_stopped =
            node.reached.as_ref().is_some_and(|reached| reached.verdict == Some(Verdict::Stopped));
        if !matches!(node.kind, Kind::LogPath | Kind::Channel | Kind::Branch) || !is_stopped || writes(node) {
            return false;
        }
        let leaves_out = self.shown >= STOPPED_MAX;
        *if leaves_out { &mut self.left_out } else { &mut self.shown } += 1;
        leaves_out
    }

    fn end(&self, out: &mut String, depth: usize) {
        if self.left_out > 0 {
            let indent = "  ".repeat(depth);
            let _ =
                writeln!(out, "{indent}and {} more that stopped it: --json has all of them", self.left_out);
        }
    }
}

/// Something in it got the message.
fn writes(node: &Node<'_>) -> bool {
    let has_output =
        |reached: &Reached<'_>| reached.events.iter().any(|e| matches!(e, Happened::Queued { .. }));
    node.reached.as_ref().is_some_and(has_output) || node.children.iter().any(writes)
}

/// Steps side by side that the message did not come to.
fn missed(out: &mut String, depth: usize, missed: &mut Vec<&Node<'_>>) {
    if missed.is_empty() {
        return;
    }
    let name = |node: &&Node<'_>| match node.location.is_empty() {
        true => node.label.clone(),
        false => format!("{} ({})", node.label, node.location),
    };
    let names: Vec<String> = missed.iter().take(MISSED_MAX).map(name).collect();
    let _ = write!(out, "{}not reached: {}", "  ".repeat(depth), names.join(", "));
    if missed.len() > MISSED_MAX {
        let _ = write!(out, " and {} more", missed.len() - MISSED_MAX);
    }
    out.push('\n');
    missed.clear();
}

fn verdict(kind: Kind, reached: &Reached<'_>) -> Option<&'static str> {
    Some(match (kind, reached.verdict?) {
        (Kind::Source, _) => return None,
        (Kind::Rewrite, Verdict::Passed) => "done",
        (_, Verdict::Passed) => "passed",
        (_, Verdict::Stopped) => "stopped here",
        (_, Verdict::Skipped) => "skipped: its condition does not hold",
    })
}

fn fate(out: &mut String, depth: usize, reached: &Reached<'_>) {
    let text = match &reached.fate {
        Some(Fate::Delivered) => return delivered(out, depth, reached),
        Some(Fate::Dropped(reason)) => format!("dropped: {reason}"),
        Some(Fate::Unknown) => {
            "delivered or dropped: this destination drops messages faster than they are remembered".to_owned()
        }
        Some(Fate::Waits { messages, why }) => {
            let waiting = stdio::counted(*messages, "message is", "messages are");
            let why = why.as_ref().map(|why| format!("\n{}because {why}", "  ".repeat(depth + 1)));
            format!("waits: {waiting} in the queue of this destination{}", why.unwrap_or_default())
        }
        Some(Fate::Rehearsed) | None => return,
    };
    let indent = "  ".repeat(depth);
    let _ = writeln!(out, "{indent}{text}");
    match reached.said.as_ref() {
        Some(Said { end: Some(End::Dropped(_, why)), .. }) if !why.is_empty() => {
            let _ = writeln!(out, "{indent}  because {}", shown(&Text::from(why.as_str())));
        }
        Some(said) if said.end.is_none() && !said.place.is_empty() => {
            let _ = writeln!(out, "{indent}  sent, and no answer yet: {}", place(said));
        }
        _ => {}
    }
}

/// `delivered after 120 us: file /var/log/web, offset 41`
fn delivered(out: &mut String, depth: usize, reached: &Reached<'_>) {
    let _ = write!(out, "{}delivered", "  ".repeat(depth));
    if let Some(said) = &reached.said {
        let _ = write!(out, " after {}", duration(said.after));
        if !said.place.is_empty() {
            let _ = write!(out, ": {}", place(said));
        }
    }
    out.push('\n');
}

fn place(said: &Said) -> String {
    let one = |(name, detail): &(&'static str, Detail)| match detail {
        Detail::Text(text) => format!("{name} {}", shown(&Text::from(text.as_str()))),
        Detail::Number(number) => format!("{name} {number}"),
    };
    said.place.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn event(out: &mut String, depth: usize, event: &Happened) {
    let indent = "  ".repeat(depth);
    let _ = match event {
        Happened::Judged { function: "filterx", operands, holds } => {
            writeln!(out, "{indent}{}", expression(operands, *holds))
        }
        Happened::Judged { function, operands, holds } => {
            let word = if *holds { "holds" } else { "does not hold" };
            writeln!(out, "{indent}{}  {word}", condition(function, operands))
        }
        Happened::Changed { name, is_tag: true, after, .. } => {
            let verb = if after.is_some() { "tag" } else { "tag removed:" };
            writeln!(out, "{indent}{verb} {name}")
        }
        Happened::Changed { name, before, after: Some(after), .. } => {
            let _ = write!(out, "{indent}{name} = {}", quoted(after));
            match before {
                Some(before) => writeln!(out, "  was {}", quoted(before)),
                None => writeln!(out),
            }
        }
        Happened::Changed { name, .. } => writeln!(out, "{indent}{name} removed"),
        Happened::Queued { driver, name, output, .. } => {
            let target = format!("{driver} {name}");
            writeln!(out, "{indent}{} bytes for {}: {}", output.bytes, target.trim_end(), shown(output))
        }
        Happened::MadeOf(parts) => {
            let lines = parts.iter().take(PARTS_SHOWN_MAX).map(|part| format!("{indent}  {}\n", shown(part)));
            let lines: String = lines.collect();
            let parts = stdio::counted(parts.len() as u64, "message", "messages");
            write!(out, "{indent}made of {parts}:\n{lines}")
        }
        Happened::NotQueued { driver } => writeln!(out, "{indent}{driver} has nothing to write for it"),
        Happened::Received(_) | Happened::Begins | Happened::Ends(_) | Happened::Is { .. } => Ok(()),
    };
}

/// `"$PID" > "7"  with $PID = "12", compared as numbers`, `program(): value "sshd", pattern "^s"`
fn condition(function: &str, operands: &[(&'static str, Text)]) -> String {
    let word = |name: &str| operands.iter().find(|(operand, _)| *operand == name).map(|(_, text)| text);
    if let (Some(left), Some(operator), Some(right)) = (word("left"), word("operator"), word("right")) {
        let (left_is, right_is) = (word("left-is"), word("right-is"));
        let written = format!(
            "{} {} {}",
            quoted(left_is.unwrap_or(left)),
            shown(operator),
            quoted(right_is.unwrap_or(right))
        );
        let values = [(left_is, left), (right_is, right)];
        let values =
            values.into_iter().filter_map(|(is, value)| Some(format!("{} = {}", shown(is?), quoted(value))));
        let compared_as = word("compared-as").map(|what| format!("compared as {}", shown(what)));
        let known: Vec<String> = values.chain(compared_as).collect();
        let known = known.join(", ");
        return if known.is_empty() { written } else { format!("{written}  with {known}") };
    }
    let said = |name: &'static str| if name == "asks-for" { "asks for" } else { name };
    let sides: Vec<String> =
        operands.iter().map(|(name, text)| format!("{} {}", said(name), quoted(text))).collect();
    let sides = sides.join(", ");
    if sides.is_empty() { format!("{function}()") } else { format!("{function}(): {sides}") }
}

/// `x.conf:4:5 n < 10  with n = 12  does not hold`
fn expression(operands: &[(&'static str, Text)], holds: bool) -> String {
    let word =
        |name: &str| operands.iter().find(|(operand, _)| *operand == name).map(|(_, text)| shown(text));
    let condition = word("condition");
    let mut out = word("expr").unwrap_or_default();
    let text = condition.clone().or_else(|| word("statement")).unwrap_or_default();
    let _ = write!(out, " {text}");
    if let Some(values) = word("operands") {
        let _ = write!(out, "  with {values}");
    }
    if let Some(error) = word("suppressed") {
        let _ = write!(out, "  passed over: {error}");
    }
    let end = match (word("error"), condition, holds) {
        (Some(error), ..) => format!("failed: {error}"),
        (None, Some(_), true) => "holds".to_owned(),
        (None, Some(_), false) => "does not hold".to_owned(),
        (None, None, _) => "done".to_owned(),
    };
    format!("{out}  {end}")
}

fn quoted(text: &Text) -> String {
    format!("\"{}\"", shown(text))
}

/// Without anything that a terminal could obey.
fn shown(text: &Text) -> String {
    let mut out = String::new();
    let mut count = 0;
    for chunk in text.kept.utf8_chunks() {
        // In what the cut leaves of a secret, nobody would know it again.
        for c in oplog::hidden(chunk.valid()).chars() {
            count += 1;
            match c {
                _ if count > SHOWN_MAX => {}
                '\\' => out.push_str("\\\\"),
                c if is_plain(c) => out.push(c),
                c => out.extend(c.escape_default()),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    if count > SHOWN_MAX || text.is_cut {
        let _ = write!(out, "... ({} bytes)", text.bytes);
    }
    out
}

/// Neither a control character nor one that changes the direction of a line.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn duration(took: Duration) -> String {
    let nanos = took.as_nanos();
    if nanos < 10_000 { format!("{nanos} ns") } else { format!("{} us", nanos / 1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_shown_is_obeyed_by_a_terminal() {
        let text = |bytes: &[u8]| Text { kept: bytes.to_vec(), bytes: bytes.len(), is_cut: false };
        assert_eq!(shown(&text("a\x1b[2J\u{202e}é\\\n".as_bytes())), "a\\u{1b}[2J\\u{202e}é\\\\\\n");
        assert_eq!(shown(&text(b"\xff\x00x")), "\\xff\\u{0}x");
        let long = shown(&text(&[b'x'; 3000]));
        assert!(long.starts_with("xxx") && long.ends_with("x... (3000 bytes)") && long.len() < 500);
    }
}
