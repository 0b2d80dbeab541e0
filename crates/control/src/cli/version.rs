//! The text of `--version`: `Key: value` lines, which scripts read.

use super::CalledAs;

/// What the text tells. Paths are those compiled in.
#[derive(Debug, Clone)]
pub struct VersionInfo<'a> {
    pub called_as: CalledAs,
    /// Version of penstock.
    pub version: &'a str,
    /// Newest syslog-ng configuration version understood, as `4.26`.
    pub config_version: &'a str,
    /// Commit and the like; may be empty.
    pub revision: &'a str,
    /// When its sources were written, as far as that is known.
    pub date: &'a str,
    /// Folders searched by `@include`, joined by colons.
    pub include_path: &'a str,
    /// Names of the built-in components, in any order.
    pub components: &'a [&'a str],
}

/// The generation and version of syslog-ng that configurations may be written for: AxoSyslog's, as its own
/// first line names them.
const REFERENCE: &str = "4 (4.27.0)";

/// Begins with the line by which scripts tell versions apart, then one key a line.
pub fn version_text(info: &VersionInfo<'_>) -> String {
    let VersionInfo { version, config_version, revision, date, include_path, .. } = info;
    let first = match info.called_as.is_syslog_ng() {
        true => format!("syslog-ng {REFERENCE}, provided by penstock {version}"),
        false => format!("penstock {version}"),
    };
    let mut components: Vec<&str> = info.components.to_vec();
    components.sort_unstable();
    components.dedup();
    let components = components.join(",");
    let debug = if cfg!(debug_assertions) { "on" } else { "off" };
    format!(
        "{first}\n\
         Config version: {config_version}\n\
         Installer-Version: {version}\n\
         Revision: {revision}\n\
         Compile-Date: {date}\n\
         Module-Directory: (built in)\n\
         Module-Path: (built in)\n\
         Include-Path: {include_path}\n\
         Available-Modules: {components}\n\
         Enable-Debug: {debug}\n\
         Enable-GProf: off\n\
         Enable-Memtrace: off\n\
         Enable-Stackdump: off\n\
         Enable-IPv6: on\n\
         Enable-Spoof-Source: on\n\
         Enable-TCP-Wrapper: off\n\
         Enable-Linux-Caps: on\n\
         Enable-Systemd: on\n\
         Enable-Filterx-Jit: off\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(called_as: CalledAs) -> VersionInfo<'static> {
        VersionInfo {
            called_as,
            version: "0.1.0",
            config_version: "4.26",
            revision: "",
            date: "",
            include_path: "/etc/syslog-ng:/usr/share/syslog-ng/include",
            components: &["network", "file", "file"],
        }
    }

    #[test]
    fn the_first_line_follows_the_name_and_the_rest_are_keys() {
        let text = version_text(&info(CalledAs::SyslogNg));
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("syslog-ng 4 (4.27.0), provided by penstock 0.1.0"));
        assert_eq!(lines.next(), Some("Config version: 4.26"));
        assert_eq!(lines.next(), Some("Installer-Version: 0.1.0"));
        assert!(lines.all(|line| line.contains(": ")), "{text}");
        assert!(text.contains("\nAvailable-Modules: file,network\n"));
        assert!(version_text(&info(CalledAs::Penstock)).starts_with("penstock 0.1.0\n"));
    }
}
