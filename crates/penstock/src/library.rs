//! The configuration library: blocks and applications that `@include "scl.conf"` makes known, in `scl/` of
//! this repository and built into the program, so that nothing has to be installed. A user's own copy on the
//! disk is used in its place.

mod old_names;
mod system;

use std::path::{Path, PathBuf};

use conf_syntax::Library;

/// Stands in for the folder; files really installed there go before the built-in ones.
pub const FOLDER: &str = "/usr/share/penstock";

macro_rules! files {
    ($($name:literal)*) => {
        &[
            ("scl.conf", include_str!("../../../scl/scl.conf")),
            $((
                concat!("scl/", $name, "/", $name, ".conf"),
                include_str!(concat!("../../../scl/", $name, ".conf")),
            ),)*
        ]
    };
}

/// Each under the name that includes find it by.
pub const FILES: &[(&str, &str)] = files! {
    "apache-accesslog" "arr" "azure" "cee" "chat" "checkpoint" "cim" "cisco" "collectd" "credit-card"
    "default-network-drivers" "elasticsearch" "ewmm" "example-destination" "extract-solaris-msgid" "fortigate" "google-pubsub" "graphite" "graylog2" "iptables"
    "jellyfin" "junos" "kubernetes" "linux-audit" "loggly" "logmatic" "logscale" "mariadb-audit" "mbox" "netskope"
    "network-load-balancer" "nodejs" "openobserve" "osquery" "panos" "pihole-ftl" "postgresql-csvlog" "qbittorrent"
    "snmptrap" "splunk" "sudo" "sumologic" "system" "webhook" "websense" "windows-eventlog"
};

/// Folders of syslog-ng's library whose files stand here under another name.
const ALIASES: &[(&str, &str)] = &[
    ("apache", "apache-accesslog"),
    ("discord", "chat"),
    ("loadbalancer", "network-load-balancer"),
    ("mariadb", "mariadb-audit"),
    ("opensearch", "elasticsearch"),
    ("paloalto", "panos"),
    ("pgsql", "postgresql-csvlog"),
    ("pihole", "pihole-ftl"),
    ("rewrite", "credit-card"),
    ("slack", "chat"),
    ("solaris", "extract-solaris-msgid"),
    ("telegram", "chat"),
    ("windowseventlog", "windows-eventlog"),
];

/// What the language layer is given. `theirs` are the folders that syslog-ng's library is looked for in.
pub fn library(theirs: Vec<PathBuf>) -> Library {
    Library {
        folder: Path::new(FOLDER).to_path_buf(),
        files: FILES,
        stands_for: theirs,
        aliases: ALIASES,
        generators: system::generators(&system::Machine::here()),
        old_names: old_names::OLD_NAMES,
    }
}

/// Modules of syslog-ng whose work is done here: `@module` finds them and `@requires` goes on. Of what is
/// missing, those stand here too that are refused by name where they are used, with what to do instead. Names
/// are those of syslog-ng's and AxoSyslog's files, `lib/syslog-ng/libNAME.so`, and `python`, by which
/// mod-python is known as well.
pub const MODULES: &[&str] = &[
    "add-contextual-data",
    "affile",
    "afprog",
    "afsmtp",
    "afsnmp",
    "afsocket",
    "afsql",
    "afstomp",
    "afuser",
    "afamqp",
    "afmongodb",
    "appmodel",
    "arrow-flight",
    "azure-auth-header",
    "basicfuncs",
    "bigquery",
    "cef",
    "clickhouse",
    "cloud-auth",
    "confgen",
    "correlation",
    "cryptofuncs",
    "csvparser",
    "date",
    "dbparser",
    "disk-buffer",
    "ebpf",
    "examples",
    "geoip2-plugin",
    "graphite",
    "grpc-filterx",
    "hook-commands",
    "http",
    "http-adapters",
    "json-plugin",
    "kafka",
    "kvformat",
    "linux-kmsg-format",
    "loki",
    "map-value-pairs",
    "metrics-probe",
    "mod-java",
    "mod-python",
    "mqtt",
    "otel",
    "pacctformat",
    "pseudofile",
    "pubsub",
    "python",
    "rate-limit-filter",
    "redis",
    "regexp-parser",
    "riemann",
    "sdjournal",
    "secure-logging",
    "stardate",
    "syslogformat",
    "system-source",
    "tags-parser",
    "tfgetent",
    "timestamp",
    "tls",
    "xml",
];

#[cfg(test)]
mod tests;
