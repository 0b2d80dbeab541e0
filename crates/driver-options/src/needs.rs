//! What files need that are made: owners, modes, a folder that takes them.

use conf_schema::{Change, Settings};
use engine::Need;
use std::path::{Path, PathBuf};
use transport::Ownership;

/// What `owner()`, `group()` and `perm()` need of a file, socket or pipe that is made.
pub fn of_ownership(s: &Settings, path: PathBuf) -> Vec<Need<'static>> {
    let ids = |options: [&str; 2], find: fn(&str) -> Option<u32>| -> Vec<u32> {
        let named = options.into_iter().filter_map(|option| match s.owner(option) {
            Some(Change::Set(who)) => find(who),
            _ => None,
        });
        named.collect()
    };
    let users = ids(["owner", "dir-owner"], Ownership::user);
    let groups = ids(["group", "dir-group"], Ownership::group);
    let is_moded = matches!(s.perm("perm"), Some(Change::Set(_)));
    let mode = is_moded.then_some(Need::Mode { path });
    [Need::Owners { users, groups }].into_iter().chain(mode).collect()
}

/// What a file needs that is written under the name that `path` makes.
pub fn of_output(s: &Settings) -> Vec<Need<'static>> {
    let Some(template) = s.template("path") else { return Vec::new() };
    let path = template.text.clone();
    let mut needs = of_ownership(s, Path::new(&path).to_owned());
    needs.push(Need::Output { option: "path", path, create_dirs: s.bool("create-dirs") });
    needs
}
