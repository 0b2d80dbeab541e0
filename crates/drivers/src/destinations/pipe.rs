//! `pipe()`: writes messages to a named pipe, as to a file.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Settings};
use delivery::files::{self, FileDestination, FileOptions};
use delivery::writing::{self, Layout};
use diag::{Diagnostics, Reported};
use driver_options::file_groups::{FOLLOW_SYMLINKS, TIME_REAP};
use driver_options::needs;
use driver_options::output_groups::NO_MARKS;
use driver_options::output_groups::{CREATE_DIRS, DESTINATION, PERMISSIONS, TEMPLATE, WRITER};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&PIPE, build).needing(needs::of_output)];

static PIPE: Component = Component {
    context: Context::Destination,
    name: "pipe",
    aliases: &["fifo"],
    positional: &[Positional {
        name: "path",
        kind: Kind::Template,
        required: true,
        help: "the path of the pipe, as a template",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &PERMISSIONS],
    own: &[
        CREATE_DIRS,
        FOLLOW_SYMLINKS,
        TIME_REAP,
        Opt::no_effect("optional", "a pipe that cannot be opened never keeps the program from starting"),
    ],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Writes messages to a named pipe, which is made when it does not exist. Without a reader, messages wait.",
    example: "pipe(\"/run/penstock/out\" template(\"${MSG}\\n\"))",
    cost: Some(Cost::elsewhere(
        "As `file()`; a pipe takes 64 KiB at a time, unless its reader made it larger.",
    )),
};

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let (path, name) = files::name(s, cx, diags)?;
    let options = FileOptions { is_pipe: true, ..files::options(s, cx, &name, diags) };
    let key = writing::key(s, &mut writer, || format!("affile_dd({path})"));
    let destination = FileDestination::new("pipe", name, writer, options, writing::limits(s));
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}
