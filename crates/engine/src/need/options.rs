//! What options ask of the surroundings that many drivers have: keys, folders for what waits, privileges.

use super::{Key, Need, Privilege};
use conf_schema::Settings;

/// Options of `tls()` that name a file or folder, and what it is.
const KEYS: [(&str, &str); 6] = [
    ("key-file", "file"),
    ("cert-file", "file"),
    ("pkcs12-file", "file"),
    ("ca-file", "file"),
    ("ca-dir", "folder"),
    ("crl-dir", "folder"),
];

/// What a driver with these options needs, whichever it is: `tls()`, `disk-buffer()`, `hook-commands()`,
/// options of sockets.
pub fn of_options(s: &Settings) -> Vec<Need<'static>> {
    let mut needs: Vec<Need<'static>> = keys(s).map(Need::Key).collect();
    if let Some(folder) = s.block("disk-buffer").and_then(|block| block.path("dir")) {
        needs.push(Need::Queue { option: "disk-buffer", folder: folder.to_owned() });
    }
    if s.bool("spoof-source") == Some(true) {
        needs.push(Need::Spoof { option: "spoof-source", ipv6: s.choice("ip-protocol") == Some("6") });
    }
    let privileges = [
        (s.is_set("interface"), Privilege::Interface),
        (s.is_set("so-rcvbuf"), Privilege::LargeBuffers),
        (s.block("hook-commands").is_some(), Privilege::Commands),
    ];
    let asked = privileges.into_iter().filter(|(is_asked, _)| *is_asked);
    needs.extend(asked.map(|(_, privilege)| Need::Privilege(privilege)));
    needs
}

fn keys(s: &Settings) -> impl Iterator<Item = Key> + '_ {
    let tls = s.block("tls");
    KEYS.into_iter().filter_map(move |(option, what)| {
        let path = tls?.path(option)?.to_owned();
        Some(Key { option, what, path, at: tls?.span(option) })
    })
}
