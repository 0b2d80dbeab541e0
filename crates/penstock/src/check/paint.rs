//! Findings in colour, for terminals.

use clap::ColorChoice;
use std::io::IsTerminal;

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const CYAN: &str = "\x1b[36m";
const GREEN: &str = "\x1b[32m";
const OFF: &str = "\x1b[0m";

/// What goes to standard error, in colour where that is wanted.
pub fn painted(report: &str, choice: ColorChoice) -> String {
    let is_wanted = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => !stdio::is_colourless() && std::io::stderr().is_terminal(),
    };
    if !is_wanted {
        return report.to_owned();
    }
    report.split_inclusive('\n').map(line).collect()
}

fn line(text: &str) -> String {
    let color = match text.trim_start() {
        begin if text.starts_with("error") || begin.contains(": error[") => RED,
        begin if text.starts_with("warning") || begin.contains(": warning[") => YELLOW,
        begin if begin.starts_with("help:") || begin.starts_with("= help:") => GREEN,
        begin if begin.starts_with("| ") && begin.trim_end().ends_with('^') => CYAN,
        _ => return text.to_owned(),
    };
    let end = text.strip_suffix('\n').map_or("", |_| "\n");
    format!("{color}{}{OFF}{end}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_where_it_is_wanted() {
        let report =
            "x.conf:1:1: error[E0102]: no such source\n    1 | log\n      | ^^^\n  help: did you mean `s`?\n";
        assert_eq!(painted(report, ColorChoice::Never), report);
        let text = painted(report, ColorChoice::Always);
        assert!(
            text.starts_with(RED) && text.contains("\n    1 | log\n") && text.contains(GREEN),
            "{text:?}"
        );
        let plain = [RED, YELLOW, CYAN, GREEN, OFF].iter().fold(text, |text, color| text.replace(color, ""));
        assert_eq!(plain, report);
    }
}
