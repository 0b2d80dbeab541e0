//! Options of `file()` to a destination.

use super::{FileDestination, FileName, FileOptions, Rotation};
use crate::destinations::writing::{self, Layout};
use conf_schema::Settings;
use diag::Diagnostics;
use engine::driver::{BuildContext, DestinationDriver};
use std::sync::Arc;
use std::time::Duration;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let path = s.template("path")?;
    let names = writing::template_options(s, cx).for_file_names();
    let template = match template::Template::compile(&path.text, &names, cx.scope) {
        Ok(made) => Arc::new(made),
        Err(error) => {
            diags.push(writing::wrong_template(&error, path.span));
            return None;
        }
    };
    let name = FileName::new(&path.text, template);
    let options = FileOptions {
        ownership: writing::ownership(s, diags),
        create_dirs: s.bool("create-dirs").unwrap_or(false),
        fsync: s.bool("fsync").unwrap_or(false),
        overwrite_if_older: s.seconds("overwrite-if-older").unwrap_or_default(),
        symlink_as: s.path("symlink-as").map(Into::into),
        // A file whose name never changes stays open unless the driver itself says otherwise.
        time_reap: match (s.seconds("time-reap"), name.literal()) {
            (Some(own), _) => own,
            (None, Some(_)) => Duration::ZERO,
            (None, None) => cx.globals.seconds("time-reap").unwrap_or(Duration::from_secs(60)),
        },
        time_reopen: s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)),
        is_pipe: false,
        rotation: rotation(s),
    };
    let key = s.text("persist-name").map_or_else(|| format!("affile_dd({})", path.text), str::to_owned);
    writer.key = Some(key.clone());
    let destination = FileDestination::new("file", name, writer, options, writing::limits(s));
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}

/// `logrotate()`
fn rotation(s: &Settings) -> Option<Rotation> {
    let block = s.block("logrotate")?;
    let (size, kept) = (block.size("size").unwrap_or(1_000_000), block.int("rotations").unwrap_or(1));
    let is_on = block.bool("enable").unwrap_or(false);
    is_on.then(|| Rotation { size, kept: u32::try_from(kept).unwrap_or(1) })
}
