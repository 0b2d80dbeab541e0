//! `file()`: follows a file as it is written, over rotation and restarts, from where the last reader was.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings, Word};
use diag::{Diagnostics, Reported};
use driver_options::file_groups::{FOLLOW_FREQ, FORCE, METHOD_HELP, PAD_SIZE, RECURSIVE};
use driver_options::source_groups::{
    FILE_SOURCE, MULTILINE_FILE, NO_CONNECTIONS, NOT_MADE, READER, READER_FLAGS,
};
use engine::Need;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use intake::files::{FileVariant, KERNEL, Wanted, matching, source};
use std::path::Path;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&FILE, build).needing(needed)];

static FILE: Component = Component {
    context: Context::Source,
    name: "file",
    aliases: &[],
    positional: &[Positional {
        name: "path",
        kind: Kind::Path,
        required: true,
        help: "the path of the file; with `*` or `?` in its name it stands for up to 100 files, as in `wildcard-file()`",
    }],
    groups: &[&READER_FLAGS, &READER, &FILE_SOURCE, &MULTILINE_FILE, &NOT_MADE, &NO_CONNECTIONS],
    own: &[
        FOLLOW_FREQ,
        PAD_SIZE,
        RECURSIVE,
        Opt::new(
            "follow-method",
            Kind::Choice(&[
                Word::new("auto", "inotify, but `poll` on file systems that are shared with other machines.")
                    .alias(&["legacy", "system"]),
                Word::new("inotify", "The kernel says which files have changed."),
                Word::new("poll", "Look at the file every follow-freq()."),
            ]),
            Preset::Text("auto"),
            METHOD_HELP,
        ),
        Opt::no_effect("follow-always-reads", "a file is read whenever it has changed"),
        FORCE,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads a file line by line and follows it as it grows. Rotation by renaming, by copying and truncating and by making the file \
              anew is followed without losing or repeating lines; after a restart reading goes on behind the last message that was \
              dealt with by the destinations. The file may come later. Each line is read as a syslog message; `flags(no-parse)` \
              takes it whole.",
    example: "file(\"/var/log/app.log\" flags(no-parse) program-override(\"app\"))",
    cost: Some(Cost::bench(
        "A large read finds many lines at once. What follows a file costs one look at it a second, or none where the system says that it \
         changed.",
        "files-1x1",
    )),
};

/// Files of a path with a wildcard in its name, as in syslog-ng.
const WILDCARD_FILES: usize = 100;

fn needed(s: &Settings) -> Vec<Need<'static>> {
    s.path("path").map(|path| Need::File { option: "path", path: path.to_owned() }).into_iter().collect()
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let path = s.path("path").ok_or(Reported)?.to_owned();
    let recursive = s.bool("recursive").unwrap_or(false);
    let method = s.choice("follow-method");
    let pattern = path.file_name().and_then(|name| name.to_str()).filter(|name| name.contains(['*', '?']));
    let wanted = match pattern {
        None => Wanted::One(path.clone()),
        // The old form of wildcard-file().
        Some(pattern) => {
            let base = path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."));
            matching(s, "path", base.to_owned(), pattern, None, recursive, diags)?
        }
    };
    let files_max = if pattern.is_some() { WILDCARD_FILES } else { 1 };
    let is_kernel = path == Path::new(KERNEL);
    let variant = FileVariant {
        driver: "file",
        wanted,
        files_max,
        method,
        list_freq: None,
        shown: path.clone(),
        is_kernel,
    };
    source(s, cx, variant, diags)
}

#[cfg(test)]
mod tests;
