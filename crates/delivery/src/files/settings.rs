//! The options of destinations that write files: names made from messages, and when files are closed.

use super::FileName;
use crate::writing;
use conf_schema::Settings;
use diag::{Diagnostics, Reported};
use driver_options::templates::wrong_template;
use engine::driver::BuildContext;
use std::sync::Arc;
use std::time::Duration;

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

/// How much of a name may be reached through symbolic links: its literal beginning, or all of it where the
/// options say so, or messages have no say in it.
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
