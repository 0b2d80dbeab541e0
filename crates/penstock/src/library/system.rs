//! `system()` and `systemd-syslog()`: where the messages of this machine come from, which differs from machine to machine.

use conf_syntax::BuiltIn;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What has to be known of the machine.
pub struct Machine {
    /// systemd is its init.
    pub systemd: bool,
    /// The kernel's messages can be read.
    pub kernel: bool,
}

impl Machine {
    pub fn here() -> Machine {
        let nonblocking = nix::libc::O_NONBLOCK;
        let kernel = File::options().read(true).custom_flags(nonblocking).open("/proc/kmsg").is_ok();
        // What sd_booted(3) looks at.
        Machine { systemd: Path::new("/run/systemd/system").is_dir(), kernel }
    }
}

pub fn generators(machine: &Machine) -> Vec<BuiltIn> {
    vec![
        BuiltIn { context: "source", name: "system", params: &["exclude-kmsg"], text: system(machine) },
        // The socket that journald forwards to with ForwardToSyslog=yes.
        BuiltIn {
            context: "source",
            name: "systemd-syslog",
            params: &[],
            text: "unix-dgram(\"/run/systemd/journal/syslog\" `__VARARGS__`);".to_owned(),
        },
    ]
}

/// As syslog-ng's: the journal where there is one, otherwise what journald would read. Other arguments go to app-parser().
fn system(machine: &Machine) -> String {
    let channel = |source: &str, rewrite: &str| {
        format!(
            "channel {{\n    source {{ {source} }};\n{rewrite}    if {{ parser {{ app-parser(topic(syslog) `__VARARGS__`); }}; }};\n}};\n"
        )
    };
    if machine.systemd {
        return channel("systemd-journal(match-boot(yes));", "");
    }
    let programs = channel(
        "unix-dgram(\"/dev/log\" so-rcvbuf(8192) flags(syslog-protocol));",
        "    rewrite { set(\"${.unix.pid}\" value(\"PID\") condition(\"${.unix.pid}\" ne \"\")); };\n",
    );
    let kernel =
        channel("file(\"/proc/kmsg\" program-override(\"kernel\") flags(kernel) keep-timestamp(no));", "");
    if machine.kernel { programs + &kernel } else { programs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conf_syntax::{Library, ParseOptions, parse_text};

    fn expanded(machine: &Machine, call: &str) -> String {
        let library = Library { folder: "/nowhere".into(), files: &[], generators: generators(machine) };
        let options = ParseOptions { read_files: false, library: Some(library), ..ParseOptions::default() };
        let parsed = parse_text("t", &format!("@version: 4.11\nsource s {{ {call} }};\n"), &options);
        assert!(!parsed.diagnostics.has_errors(), "{call}");
        format!("{:?}", parsed.config.items)
    }

    #[test]
    fn what_system_stands_for() {
        let check = |systemd: bool, kernel: bool, holds: &[&str], lacks: &[&str]| {
            let text = expanded(&Machine { systemd, kernel }, "system(exclude-kmsg(yes) auto-parse(no));");
            holds.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
            lacks.iter().for_each(|part| assert!(!text.contains(part), "{part}: {text}"));
            assert!(text.contains("auto-parse") && !text.contains("exclude-kmsg"), "{text}");
        };
        check(true, true, &["systemd-journal", "match-boot"], &["/dev/log", "/proc/kmsg"]);
        check(false, true, &["/dev/log", "/proc/kmsg"], &["systemd-journal"]);
        check(false, false, &["/dev/log"], &["systemd-journal", "/proc/kmsg"]);
    }

    #[test]
    fn the_socket_that_journald_forwards_to() {
        let machine = Machine { systemd: true, kernel: false };
        let text = expanded(&machine, "systemd-syslog(flags(no-parse));");
        assert!(
            ["unix-dgram", "/run/systemd/journal/syslog", "no-parse"].iter().all(|part| text.contains(part)),
            "{text}"
        );
    }
}
