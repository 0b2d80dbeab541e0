//! `file()`: messages into files, whose names may be made from the messages.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use delivery::files::{FileDestination, FileOptions, Rotation, name, options};
use delivery::writing::{self, Layout};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::SECONDS_MAX;
use driver_options::file_groups::{FOLLOW_SYMLINKS, TIME_REAP};
use driver_options::needs;
use driver_options::output_groups::NO_MARKS;
use driver_options::output_groups::{CREATE_DIRS, DESTINATION, PERMISSIONS, TEMPLATE, WRITER};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&FILE, build).needing(needs::of_output)];

const ROTATIONS_MAX: i64 = 10_000;

static LOGROTATE: Group = Group {
    name: "rotation",
    options: &[
        Opt::new("enable", Kind::Bool, Preset::Bool(false), "Rotate at all."),
        Opt::new(
            "size",
            Kind::Size { min: 1, max: 1 << 50 },
            Preset::Int(1_000_000),
            "From this many bytes on the next write goes to a new file. What is written at once is not divided, so files are a little larger.",
        ),
        Opt::new(
            "rotations",
            Kind::Int { min: 0, max: ROTATIONS_MAX },
            Preset::Int(1),
            "How many old files are kept.",
        ),
    ],
};

static FILE: Component = Component {
    context: Context::Destination,
    name: "file",
    aliases: &[],
    positional: &[Positional {
        name: "path",
        kind: Kind::Template,
        required: true,
        help: "the path of the file, as a template",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &PERMISSIONS],
    own: &[
        CREATE_DIRS,
        FOLLOW_SYMLINKS,
        Opt::new("fsync", Kind::Bool, Preset::Bool(false), "Bring each write to the disk before going on."),
        Opt::new(
            "overwrite-if-older",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(0),
            "Start the file anew when it was last written so many seconds ago; 0 always appends.",
        )
        .old(&["remove-if-older"]),
        Opt::new(
            "symlink-as",
            Kind::Path,
            Preset::None,
            "A symbolic link that always points to the file opened last.",
        ),
        TIME_REAP,
        Opt::new(
            "logrotate",
            Kind::Block(&[&LOGROTATE]),
            Preset::None,
            "Start a new file when this one has grown large: `logrotate(enable(yes) size(10MiB) rotations(5))`. The old one becomes \
             `NAME.1`, the one before it `NAME.2`. logrotate(8) with SIGUSR1 does more: by date, compressed.",
        ),
        Opt::no_effect("optional", "a file that cannot be opened never keeps the program from starting"),
    ],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Appends messages to a file. Macros in the name make a file for each host, day, program ...; what a \
              message carries can never lead outside the fixed first part of the path.",
    example: "file(\"/var/log/hosts/${HOST}/${YEAR}-${MONTH}.log\" create-dirs(yes) perm(0640))",
    cost: Some(Cost::bench(
        "Messages of many batches and connections leave in one large write. A name with macros is worked out once a message, and messages \
         for one file are written together; fsync(yes) costs what the disk takes for each write.",
        "tcp-10,hosts-10",
    )),
};

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = name(s, cx, diags)?;
    let options = FileOptions {
        fsync: s.bool("fsync").unwrap_or(false),
        overwrite_if_older: s.seconds("overwrite-if-older").unwrap_or_default(),
        symlink_as: s.path("symlink-as").map(Into::into),
        time_reopen: s.seconds("time-reopen").unwrap_or(Duration::from_secs(60)),
        rotation: rotation(s, diags),
        ..options(s, cx, &name, diags)
    };
    let key = writing::key(s, &mut writer, || format!("affile_dd({path})"));
    let destination = FileDestination::new("file", name, writer, options, writing::limits(s));
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

/// `logrotate()`
fn rotation(s: &Settings, diags: &mut Diagnostics) -> Option<Rotation> {
    let block = s.block("logrotate")?;
    let (size, kept) = (block.size("size").unwrap_or(1_000_000), block.int("rotations").unwrap_or(1));
    let is_on = block.bool("enable").unwrap_or(false);
    if !is_on
        && !block.is_set("enable")
        && let Some(at) = s.span("logrotate")
    {
        let finding = Diagnostic::warning("D0150", "logrotate() without enable(yes) rotates nothing", at);
        diags.push(finding.help("add `enable(yes)`, or leave logrotate() out"));
    }
    is_on.then(|| Rotation { size, kept: u32::try_from(kept).unwrap_or(1) })
}
