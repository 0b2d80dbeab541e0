//! `systemd-journal()`: the entries of systemd's journal, read from its files; the position of each numbering
//! is kept by acknowledgement.

mod folders;
mod message;
mod places;
mod port;

use conf_schema::{Component, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::INT_MAX;
use driver_options::source_groups::{JOURNAL_SOURCE, MESSAGE_BYTES_MAX};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use folders::Namespaces;
use intake::inotify::{Method, Watch};
use intake::reading::{finish, local_name};
use journal::Filter;
use message::MessageOptions;
use port::{JournalPort, Parts};
use record::{Context, Zone};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&SYSTEMD_JOURNAL, build).needing(needed)];

static SYSTEMD_JOURNAL: Component = Component {
    context: conf_schema::Context::Source,
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
        )
        .sample("\"\""),
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

/// `max-field-size()`
const FIELD_BYTES: u64 = 64 * 1024;
/// `default-facility()`: local0.
const FACILITY: u8 = 16;
/// `default-severity()`: notice.
const SEVERITY: u8 = 5;
/// Configurations of older versions have journal fields without a prefix.
const PREFIX_SINCE: (u16, u16) = (3, 8);
const PREFIX: &str = ".journald.";
/// How often files are looked at where the kernel does not say that they have changed.
const PERIOD: Duration = Duration::from_secs(1);

fn needed(_: &Settings) -> Vec<Need<'static>> {
    folders::ROOTS.map(|folder| Need::Folder { path: folder.into(), recursive: true }).into()
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let finish = finish(s, cx, true, diags);
    // There is no sender to look up.
    let _ = (s.switch("use-dns"), s.bool("dns-cache"));
    let directory = s.path("directory").map(Path::to_owned);
    let namespace = s.text("namespace").filter(|name| !name.is_empty()).map(str::to_owned);
    if directory.is_some() && namespace.is_some() {
        let text = "namespace() chooses among the folders of this machine, directory() names another one";
        let span = s.span("namespace").ok_or(Reported)?;
        diags.push(Diagnostic::error("D0115", text, span).help("leave one of them out"));
        return Err(Reported);
    }
    let filter = Filter {
        boot: if s.bool("match-boot").unwrap_or(false) { folders::this_boot() } else { None },
        matches: matches(s),
    };
    let named = match (&directory, &namespace) {
        (Some(path), _) => format!("systemd_journal({})", path.display()),
        (None, Some(name)) if name != "*" => format!("systemd_journal({name})"),
        _ => "systemd_journal".to_owned(),
    };
    let key = s.text("persist-name").map_or(named, str::to_owned);
    let prefix = s.text("prefix").unwrap_or(if cx.version < PREFIX_SINCE { "" } else { PREFIX });
    cx.scope.sets(prefix);
    let start = JournalStart {
        namespaces: match directory {
            Some(path) => Namespaces::Folder(path),
            None => Namespaces::named(namespace.as_deref()),
        },
        filter,
        value_max: s.size("max-field-size").unwrap_or(FIELD_BYTES).max(1) as usize,
        read_old: s.bool("read-old-records").unwrap_or(true),
        key: key.clone(),
        message: MessageOptions {
            prefix: prefix.to_owned(),
            facility: s.number("default-facility").unwrap_or(FACILITY),
            severity: s.number("default-severity").unwrap_or(SEVERITY),
            zone: s.zone("time-zone").cloned().unwrap_or_else(Zone::local),
            keep_timestamp: s.bool("keep-timestamp").unwrap_or(true),
        },
        fetch_limit: s.int("log-fetch-limit").map(|n| n.max(1) as usize),
        window_messages: s.int("log-iw-size").map(|n| n.max(1) as usize),
        host: local_name(s, cx.globals).into(),
        group: cx.group.into(),
    };
    let instance = start.namespaces.shown();
    let opened_with = format!(
        "{} {instance} {:?} {} {} {:?} {:?} {:?} {}",
        start.group,
        start.filter,
        start.value_max,
        start.read_old,
        start.message,
        start.fetch_limit,
        start.window_messages,
        start.host
    );
    Ok(SourceDriver {
        key,
        opened_with,
        driver: "systemd-journal",
        instance,
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program)),
        start: Box::new(start),
    })
}

/// `matches("KEY" => "value" ...)`: one of the values of each key.
fn matches(s: &Settings) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut all: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    for pair in s.pairs("matches") {
        let (key, value) = (pair.key.text.as_bytes(), pair.value.text.as_bytes().to_vec());
        match all.iter_mut().find(|(known, _)| known == key) {
            Some((_, values)) => values.push(value),
            None => all.push((key.to_vec(), vec![value])),
        }
    }
    all
}

struct JournalStart {
    namespaces: Namespaces,
    filter: Filter,
    value_max: usize,
    read_old: bool,
    key: String,
    message: MessageOptions,
    fetch_limit: Option<usize>,
    window_messages: Option<usize>,
    host: Arc<str>,
    group: Arc<str>,
}

impl JournalStart {
    fn folders(&self) -> Result<Vec<PathBuf>, Fault> {
        self.namespaces.folders().map_err(|e| Fault::local(format!("cannot read the journal: {e}")))
    }
}

impl Start for JournalStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let folders = self.folders()?;
        let base = folders.first().map_or_else(|| Path::new("/run/log/journal").to_owned(), Clone::clone);
        let watch = Watch::new(Method::Auto, &base, PERIOD)
            .map_err(|e| Fault::local(format!("cannot watch {}: {e}", base.display())))?;
        let parts = Parts {
            namespaces: self.namespaces.clone(),
            filter: self.filter.clone(),
            value_max: self.value_max,
            read_old: self.read_old,
            key: self.key.clone(),
            store: Arc::clone(shared.state()),
            message: self.message.clone(),
            fetch_limit: self.fetch_limit,
            window_messages: self.window_messages,
            context: Arc::new(Context::local(&self.group, &self.host, "local+journal")),
            source: Arc::clone(source),
        };
        worker.add(move |token, cx| Ok(Box::new(JournalPort::new(parts, watch, cx, token)?)));
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        vec![Need::Trial(Box::new(|| self.folders().map(drop)))]
    }
}

#[cfg(test)]
mod tests;
