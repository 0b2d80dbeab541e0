//! Options of `file()` to a destination.

use super::{FileDestination, FileName, FileOptions, Rotation};
use crate::destinations::writing::{self, Layout};
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics};
use engine::driver::{BuildContext, DestinationDriver};
use std::sync::Arc;
use std::time::Duration;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = name(s, cx, diags)?;
    let options = FileOptions {
        ownership: writing::ownership(s, diags),
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

/// What stands for the path, and the name that is made of it for each message.
pub fn name<'a>(
    s: &'a Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<(&'a str, FileName)> {
    let path = s.template("path")?;
    let names = writing::template_options(s, cx).for_file_names();
    match template::Template::compile(&path.text, &names, cx.scope) {
        Ok(made) => Some((&path.text, FileName::new(&path.text, Arc::new(made)))),
        Err(error) => {
            diags.push(writing::wrong_template(&error, path.span));
            None
        }
    }
}

/// How much of a name may be reached through symbolic links: its literal beginning, or all of it where the options say so, or messages
/// have no say in it.
pub fn links_below(s: &Settings, name: &FileName) -> Option<usize> {
    let allowed = s.bool("follow-symlinks").unwrap_or(false);
    let all = name.literal().is_some() || allowed;
    (!all).then(|| super::opening::literal_folder(name.text()))
}

/// `time-reap()`: a file whose name never changes stays open unless the driver itself says otherwise.
pub fn time_reap(s: &Settings, cx: &BuildContext<'_>, name: &FileName) -> Duration {
    match (s.seconds("time-reap"), name.literal()) {
        (Some(own), _) => own,
        (None, Some(_)) => Duration::ZERO,
        (None, None) => cx.globals.seconds("time-reap").unwrap_or(Duration::from_secs(60)),
    }
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
