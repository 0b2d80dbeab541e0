//! What files need that are made: owners, modes, a folder that takes them.

use conf_schema::{Change, Port, Settings};
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

/// What a destination needs that stays on this machine.
pub fn of_staying(_: &Settings) -> Vec<Need<'static>> {
    vec![Need::Connects(Vec::new())]
}

/// What a destination needs that connects to `port()`, or to one of its own ports.
pub fn of_connecting(s: &Settings, own: &[u16]) -> Vec<Need<'static>> {
    let port = match s.port("port") {
        Some(Port::Number(port)) => Some(port),
        Some(Port::Service(name)) => transport::service_port(name, false),
        None => None,
    };
    let ports = if s.is_set("port") { port.into_iter().collect() } else { own.to_vec() };
    vec![Need::Connects(ports)]
}

/// What a file needs that is written under the name that `path` makes.
pub fn of_output(s: &Settings) -> Vec<Need<'static>> {
    let Some(template) = s.template("path") else { return Vec::new() };
    let path = template.text.clone();
    let mut needs = of_ownership(s, Path::new(&path).to_owned());
    needs.push(Need::Output { option: "path", path, create_dirs: s.bool("create-dirs") });
    needs.extend(of_staying(s));
    needs
}
