//! `pipe()`: writes messages to a named pipe, as to a file.

use super::file::{FileDestination, FileName, FileOptions};
use super::writing::{self, Layout};
use conf_schema::Settings;
use diag::Diagnostics;
use engine::driver::{BuildContext, DestinationDriver};
use std::sync::Arc;
use std::time::Duration;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let path = s.template("path")?;
    let names = writing::template_options(s, cx).for_file_names();
    let name = match template::Template::compile(&path.text, &names, cx.scope) {
        Ok(made) => FileName::new(&path.text, Arc::new(made)),
        Err(error) => {
            diags.push(writing::wrong_template(&error, path.span));
            return None;
        }
    };
    let options = FileOptions {
        ownership: writing::ownership(s, diags),
        create_dirs: s.bool("create-dirs").unwrap_or(false),
        fsync: false,
        overwrite_if_older: Duration::ZERO,
        symlink_as: None,
        // A pipe whose name never changes stays open unless the driver itself says otherwise.
        time_reap: match (s.seconds("time-reap"), name.literal()) {
            (Some(own), _) => own,
            (None, Some(_)) => Duration::ZERO,
            (None, None) => cx.globals.seconds("time-reap").unwrap_or(Duration::from_secs(60)),
        },
        time_reopen: writing::time_reopen(s),
        is_pipe: true,
        rotation: None,
    };
    let key = s.text("persist-name").map_or_else(|| format!("affile_dd({})", path.text), str::to_owned);
    writer.key = Some(key.clone());
    let destination = FileDestination::new("pipe", name, writer, options, writing::limits(s));
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}
