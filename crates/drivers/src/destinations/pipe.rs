//! `pipe()`: writes messages to a named pipe, as to a file.

use super::file::{self, FileDestination, FileOptions};
use super::writing::{self, Layout};
use conf_schema::Settings;
use diag::Diagnostics;
use engine::driver::{BuildContext, DestinationDriver};
use std::sync::Arc;
use std::time::Duration;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = file::build::name(s, cx, diags)?;
    let options = FileOptions {
        ownership: writing::ownership(s, diags),
        create_dirs: s.bool("create-dirs").unwrap_or(false),
        fsync: false,
        overwrite_if_older: Duration::ZERO,
        symlink_as: None,
        time_reap: file::build::time_reap(s, cx, &name),
        time_reopen: writing::time_reopen(s),
        is_pipe: true,
        links_below: file::build::links_below(s, &name),
        rotation: None,
    };
    let key = writing::key(s, &mut writer, || format!("affile_dd({path})"));
    let destination = FileDestination::new("pipe", name, writer, options, writing::limits(s));
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}
