//! `file()`: follows a file as it is written, over rotation and restarts, from where the last reader was.

use conf_schema::Settings;
use diag::Diagnostics;
use engine::driver::{BuildContext, SourceDriver};
use intake::files::{KERNEL, Place, Wanted, matching, source};
use std::path::Path;

/// Files of a path with a wildcard in its name, as in syslog-ng.
const WILDCARD_FILES: usize = 100;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<SourceDriver> {
    let path = s.path("path")?.to_owned();
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
    let place =
        Place { driver: "file", wanted, files_max, method, list_freq: None, shown: path.clone(), is_kernel };
    source(s, cx, place, diags)
}

#[cfg(test)]
mod tests;
