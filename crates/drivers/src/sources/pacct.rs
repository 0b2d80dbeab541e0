//! `pacct()`: process accounting of Linux, records of a file that grows and is rotated, as values.

mod messages;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostics, Reported};
use driver_options::file_groups::FOLLOW_FREQ;
use driver_options::source_groups::FILE_SOURCE;
use engine::Need;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use intake::files::{RecordFile, record_source};
use intake::reading::{finish, made_here};
use messages::Messages;
use std::path::Path;
use std::sync::Arc;
use wire::pacct::RECORD_BYTES;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&PACCT, build).needing(needed)];

/// Where distributions have the kernel write.
const FILE: &str = "/var/log/account/pacct";
/// Before the names of values.
const PREFIX: &str = ".pacct.";
/// Of every message.
const TAG: &str = ".pacct";

static PACCT: Component = Component {
    context: Context::Source,
    name: "pacct",
    aliases: &[],
    positional: &[],
    groups: &[&FILE_SOURCE],
    own: &[
        Opt::new(
            "file",
            Kind::Path,
            Preset::Text(FILE),
            "The file into which the kernel writes, see accton(8).",
        ),
        FOLLOW_FREQ,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads process accounting of Linux: a record for each process that has ended, from the file that accton(8) names. Its fields are \
              values, named as in acct(5): `.pacct.ac_comm`, `.pacct.ac_uid`, `.pacct.ac_etime` and the others; MESSAGE lists them. The file is \
              followed as it grows and is rotated, and after a restart reading goes on behind the last record that was dealt with by the \
              destinations. See docs/files.md.",
    example: "pacct(file(\"/var/log/account/pacct\"))",
    cost: Some(Cost::elsewhere(
        "A record is 64 bytes; of its fields only those that something reads are made values.",
    )),
};

fn needed(s: &Settings) -> Vec<Need<'static>> {
    let path = s.path("file").unwrap_or(Path::new(FILE)).to_owned();
    vec![Need::File { option: "file", path }]
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    // Named first, it stands first.
    let tag = record::tag_id(TAG);
    let mut finish = finish(s, cx, true, diags);
    made_here(s);
    if let Some(tag) = tag {
        finish.add_tag(tag);
    }
    cx.scope.sets(PREFIX);
    let file = RecordFile {
        driver: "pacct",
        path: s.path("file").unwrap_or(Path::new(FILE)).to_owned(),
        record_bytes: RECORD_BYTES as u32,
        records: Arc::new(Messages::default()),
        finish,
    };
    Ok(record_source(s, cx, file))
}

#[cfg(test)]
mod tests;
