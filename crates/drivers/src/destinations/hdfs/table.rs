//! The options of `hdfs()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::output_groups::{DESTINATION, TEMPLATE};

/// Java's words are taken too: files for syslog-ng have them.
const ANSWERS: &[Word] = &[
    Word::new("no", "A new file each time.").alias(&["off", "false", "0"]),
    Word::new("yes", "Files are written on.").alias(&["on", "true", "1"]),
];

const JAVA: &str = "there is no Java here";

static FILES: Group = Group {
    name: "files in HDFS",
    options: &[
        Opt::new(
            "hdfs-uri",
            Kind::Text,
            Preset::None,
            "The cluster: `hdfs://host:port`, with 8020 as the usual port, or `hdfs://NAME` of a name service that `hdfs-resources()` knows.",
        )
        .sample("\"hdfs://127.0.0.1:9\""),
        Opt::new(
            "hdfs-file",
            Kind::Template,
            Preset::None,
            "The path of files, as a template: each path has a file and a queue of its own. Folders are made. A colon, which no path may have \
             there, stands as `_`.",
        )
        .sample("\"/logs/fixed\""),
        Opt::new(
            "hdfs-archive-dir",
            Kind::Text,
            Preset::None,
            "The folder of HDFS that files are moved to when they are closed. Not with `hdfs-append-enabled(yes)`.",
        )
        .sample("\"/archive\""),
        Opt::new(
            "hdfs-resources",
            Kind::Text,
            Preset::Described("`core-site.xml` and `hdfs-site.xml` in the folder of HADOOP_CONF_DIR"),
            "Hadoop's own files with properties, separated by semicolons: name services with their namenodes, replacement of datanodes, \
             protection of data. Later files win.",
        )
        .sample("\"\""),
        Opt::new(
            "hdfs-max-filename-length",
            Kind::Int { min: 16, max: 65_535 },
            Preset::Int(255),
            "The most bytes of the name of a file, without its folders. A longer one is cut.",
        ),
        Opt::new(
            "hdfs-append-enabled",
            Kind::Choice(ANSWERS),
            Preset::Text("no"),
            "Write on files that are there. Without it, each opening makes a new file: the second one of a name is called `NAME.1`.",
        )
        .sample("yes"),
        Opt::new(
            "kerberos-principal",
            Kind::Text,
            Preset::None,
            "As whom Kerberos knows the program; the library `libgssapi_krb5.so.2` has to be installed.",
        )
        .sample("\"penstock@EXAMPLE.COM\""),
        Opt::new(
            "kerberos-keytab-file",
            Kind::Path,
            Preset::None,
            "The file with the keys of kerberos-principal().",
        )
        .sample("/x"),
        Opt::new("template", Kind::Template, Preset::Described("`${ISODATE} ${HOST} ${MSGHDR}${MSG}` and a line end"), "A message in a file."),
        Opt::new(
            "time-reap",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::None,
            "Close a file to which nothing was written for so many seconds, and move it to the archive. Without it, or with 0, files are closed at the end.",
        ),
        Opt::new(
            "time-reopen",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("time-reopen"),
            "The longest pause, in seconds, between two attempts while the cluster is away or takes nothing.",
        ),
        Opt::no_effect("client-lib-dir", JAVA),
        Opt::no_effect("jvm-options", JAVA),
        Opt::no_effect("retries", "what the cluster does not take waits, and a name that it cannot have is a dead letter at once"),
    ],
};

pub static HDFS: Component = Component {
    context: Context::Destination,
    name: "hdfs",
    aliases: &[],
    positional: &[],
    groups: &[&FILES, &TEMPLATE, &DESTINATION],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Writes messages to files of HDFS. A message counts as delivered when it is on the disks of all datanodes that its block has \
              (hsync). After an outage the length of the file says what is there, so that nothing is written twice. See docs/hdfs.md.",
    example: "hdfs(hdfs-uri(\"hdfs://namenode.example.com:8020\") hdfs-file(\"/logs/${HOST}/${YEAR}-${MONTH}-${DAY}.log\") time-reap(600) \
              hdfs-archive-dir(\"/logs/done\"))",
    cost: Some(Cost::elsewhere("As `file()`, one copy more and a checksum over each byte.")),
};
