//! What is allowed and hardly meant: lints of `check`. Each can be silenced as any warning.

mod filters;
mod flow;
mod lines;
mod patterns;
mod unread;
mod unused;

use crate::configuration::Configuration;
use crate::library;
use crate::outline::Outline;
use diag::{Diagnostic, Origin, SourceMap, Span};
use engine::compile::Plan;

/// Stable codes: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "L0101",
        "a backslash that is lost",
        "In double quotes a backslash is for the language itself: \"\\d\" is `d`, and \"\\.\" is any character to a regular \
         expression. Write the pattern in single quotes, or each backslash twice. `# allow L0101` in the line, or in the one before, \
         silences it, as `--allow L0101` does for all.",
    ),
    (
        "L0102",
        "a template without a line end",
        "A destination that writes one message behind the other has a template that does not end the line: messages run together. End \
         the template with \\n, in double quotes. `# allow L0102` silences it.",
    ),
    (
        "L0103",
        "a condition that never holds",
        "No message fits: it would need two facilities or levels at a time, one value to be equal to two texts, or something and its opposite. \
         Join the parts by `or`, or name all in one call: facility(kern, mail). `# allow L0103` silences it.",
    ),
    (
        "L0104",
        "a condition that always holds",
        "Every message fits, so that it takes nothing out: a pattern that matches any text, all levels, something or its opposite. Leave it \
         out, or correct it. `# allow L0104` silences it.",
    ),
    (
        "L0105",
        "a destination that leads back to its source",
        "What the destination sends or writes comes in again at a source from which it gets its messages, and goes round for ever. Send it elsewhere, \
         or filter what comes back. `# allow L0105` silences it.",
    ),
    (
        "L0106",
        "a template that is not used",
        "No option names this template. Remove it, or refer to it. `# allow L0106` silences it.",
    ),
    (
        "L0107",
        "a value that nobody reads",
        "A rewrite sets a value that no destination, filter or parser behind it looks at. Correct its name, use it in a template, or leave \
         the rewrite out. `# allow L0107` silences it.",
    ),
    (
        "L0108",
        "a parser whose values nobody reads",
        "No destination, filter, rewrite or parser behind it looks at what the parser finds, and messages that it does not fit are not told \
         apart. Use its values in a template, or leave it out. `# allow L0108` silences it.",
    ),
    (
        "L0109",
        "one destination that holds the others",
        "With flags(flow-control) the sources of this log path wait for the destination that is slowest. One that sends over a network and has no \
         disk-buffer() stops the others too when its server is down. Give it a disk-buffer(), or a log path of its own. `# allow L0109` \
         silences it.",
    ),
];

/// Adds what is found. Lints look only at configurations that are right.
pub fn look(configuration: &mut Configuration, plan: Option<&Plan>) {
    let Some(plan) = plan.filter(|_| !configuration.has_errors()) else { return };
    let outline = Outline::of(configuration);
    let mut lints = Lints { sources: &configuration.parsed.sources, findings: Vec::new() };
    let config = configuration.config();
    patterns::look(config, &mut lints);
    lines::look(config, &mut lints);
    filters::look(config, &mut lints);
    flow::look(&outline, config, &mut lints);
    unused::look(config, &mut lints);
    unread::look(plan, &mut lints);
    lints.findings.into_iter().for_each(|finding| configuration.push(finding));
}

/// What was found, where it may be said.
struct Lints<'s> {
    sources: &'s SourceMap,
    findings: Vec<Diagnostic>,
}

impl Lints<'_> {
    /// Says it, unless the place is nobody's to change: in a library, or made by a block or a variable.
    fn add(&mut self, finding: Diagnostic) {
        if finding.span.is_some_and(|span| self.is_own(span)) {
            self.findings.push(finding);
        }
    }

    fn is_own(&self, span: Span) -> bool {
        let file = self.sources.locate(span).file;
        let is_made = self.sources.chain(span).iter().any(|(at, _)| matches!(at, Origin::Expanded { .. }));
        let is_library = file.starts_with(library::FOLDER) || file.starts_with("/usr/share/syslog-ng");
        !is_made && !is_library && !self.sources.text(span).contains('`')
    }
}
