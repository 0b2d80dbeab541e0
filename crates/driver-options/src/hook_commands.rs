//! `hook-commands()` of sources and destinations. The engine runs them.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

pub const HOOK_COMMANDS: Opt = Opt::new(
    "hook-commands",
    Kind::Block(HOOKS),
    Preset::None,
    "Commands that are run by `/bin/sh -c` when this driver comes and goes, such as one that opens a port of the firewall. One is waited \
     for before the next is run.",
);

const HOOKS: &[&Group] = &[&Group {
    name: "commands",
    options: &[
        Opt::new(
            "startup",
            Kind::Text,
            Preset::None,
            "When the program starts, before the driver is opened. When it fails, the program does not start.",
        ),
        Opt::new(
            "setup",
            Kind::Text,
            Preset::None,
            "Before the driver is opened: at the start, and in a reload that brings these commands or changes them. When it fails, the \
             configuration does not take effect.",
        ),
        Opt::new(
            "teardown",
            Kind::Text,
            Preset::None,
            "At the end, when the driver was closed, and in a reload that takes these commands away or changes them, before what comes in \
             their place is set up.",
        ),
        Opt::new("shutdown", Kind::Text, Preset::None, "When the program ends, after the driver was closed."),
    ],
}];
