//! `file()`: messages into files, whose names may be made from the messages.

use conf_schema::Settings;
use delivery::files::{FileDestination, FileOptions, Rotation, links_below, name, time_reap};
use delivery::writing::{self, Layout};
use diag::{Diagnostic, Diagnostics};
use driver_options::ownership::ownership;
use engine::driver::{BuildContext, DestinationDriver};
use std::sync::Arc;
use std::time::Duration;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = name(s, cx, diags)?;
    let options = FileOptions {
        ownership: ownership(s, diags),
        create_dirs: s.bool("create-dirs").unwrap_or(false),
        fsync: s.bool("fsync").unwrap_or(false),
        overwrite_if_older: s.seconds("overwrite-if-older").unwrap_or_default(),
        symlink_as: s.path("symlink-as").map(Into::into),
        time_reap: time_reap(s, cx, &name),
        time_reopen: s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)),
        is_pipe: false,
        links_below: links_below(s, &name),
        rotation: rotation(s, diags),
    };
    let key = writing::key(s, &mut writer, || format!("affile_dd({path})"));
    let destination = FileDestination::new("file", name, writer, options, writing::limits(s));
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}

/// `logrotate()`
fn rotation(s: &Settings, diags: &mut Diagnostics) -> Option<Rotation> {
    let block = s.block("logrotate")?;
    let (size, kept) = (block.size("size").unwrap_or(1_000_000), block.int("rotations").unwrap_or(1));
    let is_on = block.bool("enable").unwrap_or(false);
    if !is_on
        && !block.is_set("enable")
        && let Some(at) = s.span("logrotate")
    {
        let finding = Diagnostic::warning("D0150", "logrotate() without enable(yes) rotates nothing", at);
        diags.push(finding.help("add `enable(yes)`, or leave logrotate() out"));
    }
    is_on.then(|| Rotation { size, kept: u32::try_from(kept).unwrap_or(1) })
}
