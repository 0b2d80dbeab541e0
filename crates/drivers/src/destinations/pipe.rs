//! `pipe()`: writes messages to a named pipe, as to a file.

use conf_schema::Settings;
use delivery::files::{self, FileDestination, FileOptions};
use delivery::writing::{self, Layout};
use diag::Diagnostics;
use driver_options::ownership::ownership;
use engine::driver::{BuildContext, DestinationDriver};
use std::sync::Arc;
use std::time::Duration;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = files::name(s, cx, diags)?;
    let options = FileOptions {
        ownership: ownership(s, diags),
        create_dirs: s.bool("create-dirs").unwrap_or(false),
        fsync: false,
        overwrite_if_older: Duration::ZERO,
        symlink_as: None,
        time_reap: files::time_reap(s, cx, &name),
        time_reopen: writing::time_reopen(s),
        is_pipe: true,
        links_below: files::links_below(s, &name),
        rotation: None,
    };
    let key = writing::key(s, &mut writer, || format!("affile_dd({path})"));
    let destination = FileDestination::new("pipe", name, writer, options, writing::limits(s));
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}
