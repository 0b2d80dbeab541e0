//! `system()` and `systemd-syslog()`, where the messages of this machine come from, and `getvirtconsole()`,
//! the console it shows messages on: what they stand for differs from machine to machine.

use conf_syntax::BuiltIn;
use std::fs::File;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// What has to be known of the machine.
pub struct Machine {
    /// systemd is its init.
    pub systemd: bool,
    /// The kernel's messages can be read.
    pub kernel: bool,
    /// The terminal that nobody logs in at.
    pub console: &'static str,
}

/// Terminals that messages are shown on, of Linux and of FreeBSD's kernel.
const CONSOLES: [&str; 2] = ["/dev/tty10", "/dev/ttyva"];
/// In their place where there is none, as in a container.
const NO_CONSOLE: &str = "/dev/null";

impl Machine {
    pub fn here() -> Machine {
        let nonblocking = nix::libc::O_NONBLOCK;
        let kernel = File::options().read(true).custom_flags(nonblocking).open("/proc/kmsg").is_ok();
        // What sd_booted(3) looks at.
        let systemd = Path::new("/run/systemd/system").is_dir();
        let terminal =
            |path: &&str| std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device());
        Machine { systemd, kernel, console: CONSOLES.into_iter().find(terminal).unwrap_or(NO_CONSOLE) }
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
        BuiltIn {
            context: "destination",
            name: "getvirtconsole",
            params: &[],
            text: format!("file(\"{}\" `__VARARGS__`);", machine.console),
        },
    ]
}

/// As syslog-ng's: the journal where there is one, otherwise what journald would read. Other arguments go to
/// app-parser().
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
        expanded_in("source", machine, call)
    }

    fn expanded_in(kind: &str, machine: &Machine, call: &str) -> String {
        let generators = generators(machine);
        let library = Library {
            folder: "/nowhere".into(),
            files: &[],
            stands_for: Vec::new(),
            aliases: &[],
            generators,
            old_names: &[],
        };
        let options = ParseOptions { read_files: false, library: Some(library), ..ParseOptions::default() };
        let parsed = parse_text("t", &format!("@version: 4.11\n{kind} s {{ {call} }};\n"), &options);
        assert!(!parsed.diagnostics.has_errors(), "{call}");
        format!("{:?}", parsed.config.items)
    }

    #[test]
    fn what_system_stands_for() {
        let check = |systemd: bool, kernel: bool, holds: &[&str], lacks: &[&str]| {
            let text = expanded(
                &Machine { systemd, kernel, console: "" },
                "system(exclude-kmsg(yes) auto-parse(no));",
            );
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
        let machine = Machine { systemd: true, kernel: false, console: "" };
        let text = expanded(&machine, "systemd-syslog(flags(no-parse));");
        assert!(
            ["unix-dgram", "/run/systemd/journal/syslog", "no-parse"].iter().all(|part| text.contains(part)),
            "{text}"
        );
    }

    #[test]
    fn the_console_is_a_file_destination() {
        let machine = Machine { systemd: true, kernel: false, console: "/dev/tty10" };
        let text = expanded_in("destination", &machine, "getvirtconsole();");
        assert!(text.contains("/dev/tty10") && text.contains("file"), "{text}");
        let text = expanded_in("destination", &machine, "getvirtconsole(template(\"x\"))");
        assert!(text.contains("template"), "{text}");
    }
}
