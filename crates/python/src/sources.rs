//! The package `syslogng` that classes import, in the order in which its parts are run.

/// What `python3 -c` runs.
pub const START: &str = include_str!("../syslogng/start.py");

pub const PACKAGE: &[(&str, &str)] = &[
    ("syslogng", include_str!("../syslogng/package.py")),
    ("syslogng._wire", include_str!("../syslogng/_wire.py")),
    ("syslogng._names", include_str!("../syslogng/_names.py")),
    ("syslogng.message", include_str!("../syslogng/message.py")),
    ("syslogng.template", include_str!("../syslogng/template.py")),
    ("syslogng.logger", include_str!("../syslogng/logger.py")),
    ("syslogng.parser", include_str!("../syslogng/parser.py")),
    ("syslogng.dest", include_str!("../syslogng/dest.py")),
    ("syslogng.persist", include_str!("../syslogng/persist.py")),
    ("syslogng._deliver", include_str!("../syslogng/_deliver.py")),
    ("syslogng._produce", include_str!("../syslogng/_produce.py")),
    ("syslogng.source", include_str!("../syslogng/source.py")),
    ("syslogng.confgen", include_str!("../syslogng/confgen.py")),
    ("syslogng._exports", include_str!("../syslogng/_exports.py")),
    ("syslogng._serve", include_str!("../syslogng/_serve.py")),
];
