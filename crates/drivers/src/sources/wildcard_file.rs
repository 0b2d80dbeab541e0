//! `wildcard-file()`: follows all files below a folder whose names match, as many as there may be, and those that come later.

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics};
use engine::driver::{BuildContext, SourceDriver};
use intake::files::{Place, matching, source};

/// Files followed at once unless max-files() says otherwise.
const FILES: i64 = 100;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<SourceDriver> {
    let (base, pattern) = (s.path("base-dir"), s.text("filename-pattern"));
    let files_max = s.int("max-files").unwrap_or(FILES).max(1) as usize;
    let (exclude, recursive) = (s.text("exclude-pattern"), s.bool("recursive").unwrap_or(false));
    let (method, list_freq) = (s.choice("monitor-method"), s.seconds("monitor-freq"));
    let (Some(base), Some(pattern)) = (base, pattern) else {
        let text = "wildcard-file() needs base-dir() and filename-pattern()";
        let help = "write `wildcard-file(base-dir(\"/var/log\") filename-pattern(\"*.log\"))`";
        diags.push(Diagnostic::error("D0114", text, s.call_span()?).help(help));
        return None;
    };
    if pattern.contains('/') {
        let text = "filename-pattern() is for names, not for paths";
        let help = "name the folder in base-dir(); recursive(yes) reads the folders below it too";
        diags.push(Diagnostic::error("D0111", text, s.span("filename-pattern")?).help(help));
        return None;
    }
    let wanted = matching(s, "filename-pattern", base.to_owned(), pattern, exclude, recursive, diags)?;
    let shown = base.join(pattern);
    let place =
        Place { driver: "wildcard-file", wanted, files_max, method, list_freq, shown, is_kernel: false };
    source(s, cx, place, diags)
}

#[cfg(test)]
mod tests;
