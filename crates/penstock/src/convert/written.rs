//! Texts of rsyslog as they are written in a configuration of ours.

use std::net::Ipv6Addr;

/// `%msg%`: to rsyslog the blank behind the tag is its first character. What it refers to is written where
/// something refers to it.
pub const MESSAGE: &str = "$(template t_msg)";
pub const MESSAGE_TEMPLATE: &str =
    "template t_msg \"$(if (match('* ' value('LEGACY_MSGHDR') type(glob))) ' ' '')${MESSAGE}\";\n";

/// A text between quotes. A backtick begins the name of a define anywhere, also in there.
pub fn quoted(text: &str) -> String {
    plain(&conf_syntax::quoted(text))
}

/// A text between quotes, where a template stands: `$` is one sign of it.
pub fn literal(text: &str) -> String {
    quoted(&text.replace('$', "$$"))
}

/// What is written as it is.
pub fn plain(text: &str) -> String {
    text.replace('`', "``")
}

/// What a driver needs beside an address of IPv6.
pub fn ip_protocol(host: &str) -> Option<String> {
    host.parse::<Ipv6Addr>().is_ok().then(|| "ip-protocol(6)".to_owned())
}

/// A number or a word, bare where it is one.
pub fn word(text: &str) -> String {
    let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_word { text.to_owned() } else { quoted(text) }
}
