//! `wildcard-file()`: follows all files below a folder whose names match, as many as there may be, and those
//! that come later.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::file_groups::{FOLLOW_FREQ, FORCE, METHOD_HELP, PAD_SIZE, RECURSIVE};
use driver_options::source_groups::{
    FILE_SOURCE, MULTILINE_FILE, NO_CONNECTIONS, NOT_MADE, READER, READER_FLAGS,
};
use driver_options::{INT_MAX, SECONDS_MAX};
use engine::Need;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use intake::files::{FileVariant, matching, source};

pub const PARTS: &[SourcePart] = &[SourcePart::new(&WILDCARD_FILE, build).needing(needed)];

static WILDCARD_FILE: Component = Component {
    context: Context::Source,
    name: "wildcard-file",
    aliases: &[],
    positional: &[],
    groups: &[&READER_FLAGS, &READER, &FILE_SOURCE, &MULTILINE_FILE, &NOT_MADE, &NO_CONNECTIONS],
    own: &[
        Opt::new("base-dir", Kind::Path, Preset::None, "The folder of the files. It may come later."),
        Opt::new(
            "filename-pattern",
            Kind::Text,
            Preset::None,
            "Which names are read: `*` stands for any text, `?` for any character.",
        ),
        Opt::new(
            "exclude-pattern",
            Kind::Text,
            Preset::None,
            "Which of those names are left out, as `*.gz`.",
        ),
        RECURSIVE,
        Opt::new(
            "max-files",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(100),
            "The most files open at once. Further ones wait until another one is gone, with a warning. The system's limit of open \
             files has to allow them.",
        ),
        Opt::new(
            "monitor-method",
            Kind::Choice(&[
                Word::new("auto", "inotify, but `poll` on file systems that are shared with other machines."),
                Word::new("inotify", "The kernel says which files have changed."),
                Word::new("poll", "Look at every file every follow-freq()."),
                Word::not_yet("kqueue", "it is not known to this system; write `auto`"),
            ]),
            Preset::Text("auto"),
            METHOD_HELP,
        ),
        Opt::new(
            "monitor-freq",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Described("that of follow-freq()"),
            "Seconds between looks for new files, where the kernel does not say that there are some.",
        ),
        FOLLOW_FREQ,
        PAD_SIZE,
        FORCE,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Follows all files in a folder whose names match a pattern, and those that come later, as `file()` follows one. The files are \
              read by all cores, each in order.",
    example: "wildcard-file(base-dir(\"/var/log/apps\") filename-pattern(\"*.log\") recursive(yes) max-files(10000))",
    cost: Some(Cost::bench(
        "As `file()` for each file; opening one and remembering its position cost as much as some hundred lines of it.",
        "files-100x100",
    )),
};

/// Files followed at once unless max-files() says otherwise.
const FILES: i64 = 100;

fn needed(s: &Settings) -> Vec<Need<'static>> {
    let recursive = s.bool("recursive").unwrap_or(false);
    s.path("base-dir").map(|path| Need::Folder { path: path.to_owned(), recursive }).into_iter().collect()
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let (base, pattern) = (s.path("base-dir"), s.text("filename-pattern"));
    let files_max = s.int("max-files").unwrap_or(FILES).max(1) as usize;
    let (exclude, recursive) = (s.text("exclude-pattern"), s.bool("recursive").unwrap_or(false));
    let (method, list_freq) = (s.choice("monitor-method"), s.seconds("monitor-freq"));
    let (Some(base), Some(pattern)) = (base, pattern) else {
        let text = "wildcard-file() needs base-dir() and filename-pattern()";
        let help = "write `wildcard-file(base-dir(\"/var/log\") filename-pattern(\"*.log\"))`";
        diags.push(Diagnostic::error("D0114", text, s.call_span().ok_or(Reported)?).help(help));
        return Err(Reported);
    };
    if pattern.contains('/') {
        let text = "filename-pattern() is for names, not for paths";
        let help = "name the folder in base-dir(); recursive(yes) reads the folders below it too";
        diags.push(Diagnostic::error("D0111", text, s.span("filename-pattern").ok_or(Reported)?).help(help));
        return Err(Reported);
    }
    let wanted = matching(s, "filename-pattern", base.to_owned(), pattern, exclude, recursive, diags)?;
    let shown = base.join(pattern);
    let variant = FileVariant {
        driver: "wildcard-file",
        wanted,
        files_max,
        method,
        list_freq,
        shown,
        is_kernel: false,
    };
    source(s, cx, variant, diags)
}

#[cfg(test)]
mod tests;
