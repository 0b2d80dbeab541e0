//! The options of destinations that write files: names made from messages, and when files are closed.

use super::opening::NameOrigin;
use super::{FileName, FileOptions};
use crate::writing;
use conf_schema::Settings;
use diag::{Diagnostics, Reported};
use driver_options::ownership::ownership;
use driver_options::templates::wrong_template;
use engine::driver::BuildContext;
use std::sync::Arc;
use std::time::Duration;

/// What files, pipes and stores have in common; what only some of them have is off.
pub fn options(s: &Settings, cx: &BuildContext<'_>, name: &FileName, diags: &mut Diagnostics) -> FileOptions {
    FileOptions {
        ownership: ownership(s, diags),
        create_dirs: s.bool("create-dirs").unwrap_or(false),
        fsync: false,
        overwrite_if_older: Duration::ZERO,
        symlink_as: None,
        time_reap: time_reap(s, cx, name),
        time_reopen: writing::time_reopen(s),
        is_pipe: false,
        name_origin: name_origin(s, name),
        rotation: None,
    }
}

/// What stands for the path, and the name that is made of it for each message.
pub fn name<'a>(
    s: &'a Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<(&'a str, FileName), Reported> {
    let path = s.template("path").ok_or(Reported)?;
    let names = writing::template_options(s, cx).for_file_names();
    match template::Template::compile(&path.text, &names, cx.scope) {
        Ok(made) => Ok((&path.text, FileName::new(&path.text, Arc::new(made)))),
        Err(error) => {
            diags.push(wrong_template(&error, path.span));
            Err(Reported)
        }
    }
}

/// Who has a say in the name, and whether `follow-symlinks()` allows links in what messages make of it.
fn name_origin(s: &Settings, name: &FileName) -> NameOrigin {
    let follows = s.bool("follow-symlinks").unwrap_or(false);
    match name.literal() {
        Some(_) => NameOrigin::Fixed,
        None => NameOrigin::Messages { folder_bytes: super::opening::literal_folder(name.text()), follows },
    }
}

/// `time-reap()`: a file whose name never changes stays open unless the driver itself says otherwise.
fn time_reap(s: &Settings, cx: &BuildContext<'_>, name: &FileName) -> Duration {
    match (s.seconds("time-reap"), name.literal()) {
        (Some(own), _) => own,
        (None, Some(_)) => Duration::ZERO,
        (None, None) => cx.globals.seconds("time-reap").unwrap_or(Duration::from_secs(60)),
    }
}
