//! The `{perm}` option group: who owns what is made.

use conf_schema::{Change, Settings};
use diag::{Diagnostic, Diagnostics};
use transport::Ownership;

/// The `{perm}` group. An owner this system does not know is none: as in syslog-ng, what is made keeps the
/// program's own.
pub fn ownership(s: &Settings, diags: &mut Diagnostics) -> Ownership {
    let mut id = |name: &str, find: fn(&str) -> Option<u32>| match s.owner(name) {
        Some(Change::Set(who)) => {
            let found = find(who);
            if found.is_none()
                && let Some(span) = s.span_in_effect(name)
            {
                let what = if name.ends_with("group") { "group" } else { "user" };
                let text = format!("this system has no {what} `{who}`: nothing is given to it");
                let finding = Diagnostic::warning("D0107", text, span);
                diags.push_once(finding.help("create it, or write a number"));
            }
            found
        }
        _ => None,
    };
    let mode = |name: &str| match s.perm(name) {
        Some(Change::Set(mode)) => Some(mode),
        _ => None,
    };
    Ownership {
        owner: id("owner", Ownership::user),
        group: id("group", Ownership::group),
        perm: mode("perm"),
        dir_owner: id("dir-owner", Ownership::user),
        dir_group: id("dir-group", Ownership::group),
        dir_perm: mode("dir-perm"),
    }
}
