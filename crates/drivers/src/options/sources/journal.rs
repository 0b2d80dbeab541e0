//! The source that reads systemd's journal.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};

use driver_options::INT_MAX;
use driver_options::source_groups::{JOURNAL_SOURCE, MESSAGE_BYTES_MAX};

pub static SYSTEMD_JOURNAL: Component = Component {
    context: Context::Source,
    name: "systemd-journal",
    aliases: &[],
    positional: &[],
    groups: &[&JOURNAL_SOURCE],
    own: &[
        Opt::new(
            "prefix",
            Kind::Text,
            Preset::Described("`.journald.`, nothing in configurations of versions before 3.8"),
            "What stands before the names of the journal's fields. Fields that no log path reads are not stored and cost next to nothing.",
        ),
        Opt::new(
            "max-field-size",
            Kind::Size { min: 1, max: MESSAGE_BYTES_MAX },
            Preset::Int(65_536),
            "Bytes of a field that are taken; longer ones are cut.",
        ),
        Opt::new(
            "default-severity",
            Kind::Severity,
            Preset::Text("notice"),
            "Severity of entries without the field PRIORITY.",
        )
        .alias(&["default-level", "default-priority"]),
        Opt::new(
            "default-facility",
            Kind::Facility,
            Preset::Text("local0"),
            "Facility of entries without the field SYSLOG_FACILITY.",
        ),
        Opt::new("time-zone", Kind::Zone, Preset::Described("that of this machine"), "The zone of the messages' stamps."),
        Opt::new(
            "log-fetch-limit",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Described("as many as a batch holds"),
            "The most messages taken in one turn.",
        ),
        Opt::new(
            "matches",
            Kind::Pairs,
            Preset::None,
            "Only entries with these fields, as `matches(\"_SYSTEMD_UNIT\" => \"ssh.service\")`; of several values of one field any \
             will do. Collects.",
        )
        .collects(),
        Opt::new("match-boot", Kind::Bool, Preset::Bool(false), "Only entries of the boot this machine runs in."),
        Opt::no_effect(
            "read-old-on-error",
            "entries are known by their numbers: reading goes on behind the last one even if that is gone",
        )
        .alias(&["read-old-records-on-error"]),
        Opt::new(
            "namespace",
            Kind::Text,
            Preset::Described("the default one"),
            "Which journal namespaces: the name of one, `+name` for that and the default one, `*` for all.",
        ),
        Opt::new(
            "directory",
            Kind::Path,
            Preset::Described("those of this machine below /var/log/journal and /run/log/journal"),
            "The folder of the journal files: of those that systemd-journal-remote received, or of a copy. An addition to the language.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads systemd's journal from its files, without systemd's library. MESSAGE, _HOSTNAME, SYSLOG_IDENTIFIER or else _COMM, \
              _PID, SYSLOG_FACILITY and PRIORITY become the fields of the message, the journal's clock its stamp, and every field a \
              value under its name with the prefix. After a restart reading goes on behind the last entry that was dealt with by \
              the destinations. Damaged entries are left out, counted and said. Reading needs the rights of the group \
              systemd-journal.",
    example: "systemd-journal(prefix(\".journal.\") matches(\"_SYSTEMD_UNIT\" => \"ssh.service\"))",
    cost: Some(Cost::elsewhere("The files of the journal are read where they lie in memory; of an entry only fields that something reads are taken, compressed \
         ones are unpacked for that.")),
};
