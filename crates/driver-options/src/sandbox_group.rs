//! Global options of the sandbox: docs/sandbox.md.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Word};

const WORDS: &[Word] = &[Word::new(
    "if-possible",
    "As `yes`; where the kernel cannot, a warning says so and the program starts.",
)];

pub static SANDBOX: Group = Group {
    name: "the sandbox",
    options: &[
        Opt::new(
            "sandbox",
            Kind::BoolOr(WORDS),
            Preset::Bool(false),
            "Confine the program to the files, folders, ports and system calls that its configuration needs, with Landlock and seccomp. \
             Where the kernel cannot, the program does not start. It holds from the start of the process on: see docs/sandbox.md.",
        ),
        Opt::new(
            "sandbox-read",
            Kind::TextList,
            Preset::None,
            "Files and folders that may be read beside what the configuration needs: by programs that are started, say. Collects.",
        )
        .collects()
        .sample("\"/srv/tables\""),
        Opt::new(
            "sandbox-write",
            Kind::TextList,
            Preset::None,
            "Files and folders that may be written beside what the configuration needs. Collects.",
        )
        .collects()
        .sample("\"/srv/spool\""),
        Opt::new(
            "sandbox-connect",
            Kind::TextList,
            Preset::None,
            "Ports of TCP that may be connected to beside those of destinations. Collects.",
        )
        .collects()
        .sample("443"),
    ],
};
