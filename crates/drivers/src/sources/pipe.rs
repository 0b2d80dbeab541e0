//! `pipe()`, also named `fifo()`: lines from a named pipe, which is made when it is missing and stays open
//! without writers.

use conf_schema::{Component, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::file_groups::PAD_SIZE;
use driver_options::needs;
use driver_options::output_groups::{CREATE_DIRS, PERMISSIONS};
use driver_options::ownership::ownership;
use driver_options::source_groups::{MULTILINE_STREAM, NO_CONNECTIONS, READER, READER_FLAGS, SOURCE};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::reader::StreamPort;
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Made, Need, Shared};
use intake::input::FdInput;
use intake::listener::register;
use intake::multi_line::{Mode, multi_line};
use intake::optional::Optional;
use intake::reading::NO_HOSTNAME_SINCE;
use intake::reading::{Defaults, Reading, location, padded};
use intake::unnamed::Unnamed;
use record::{Context, NameId};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use transport::Ownership;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&PIPE, build).needing(needed)];

static PIPE: Component = Component {
    context: conf_schema::Context::Source,
    name: "pipe",
    aliases: &["fifo"],
    positional: &[Positional {
        name: "path",
        kind: Kind::Path,
        required: true,
        help: "the path of the pipe",
    }],
    groups: &[&READER_FLAGS, &READER, &SOURCE, &PERMISSIONS, &MULTILINE_STREAM, &NO_CONNECTIONS],
    own: &[
        Opt::new("optional", Kind::Bool, Preset::Bool(false), "Start although the pipe cannot be opened."),
        CREATE_DIRS,
        PAD_SIZE,
        Opt::no_effect("follow-freq", "a pipe says itself when there is something to read"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads lines from a named pipe. The pipe is made when it does not exist, and stays open when the last \
              writer goes away.",
    example: "pipe(\"/run/penstock/pipe\" flags(no-parse) program-override(\"app\"))",
    cost: Some(Cost::elsewhere("As a connection of `network()`: a read takes what is there.")),
};

/// Permissions of a pipe that is made, unless perm() says otherwise.
const MODE: u32 = 0o600;

fn needed(s: &Settings) -> Vec<Need<'static>> {
    s.path("path").into_iter().flat_map(|path| needs::of_ownership(s, path.to_owned())).collect()
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let path = s.path("path").ok_or(Reported)?.to_owned();
    let defaults = Defaults {
        framing: padded(s),
        syslog_protocol: false,
        expect_hostname: cx.version < NO_HOSTNAME_SINCE,
        local: true,
    };
    let reading = Reading::new(s, cx, &defaults, diags);
    let multi_line = multi_line(s, diags)?;
    let lines = multi_line.as_ref().map(|(_, text)| text.clone()).unwrap_or_default();
    let ownership = ownership(s, diags);
    let shown = path.display().to_string();
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("affile_sd.({shown})"));
    let optional = Optional::new(s.bool("optional").unwrap_or(false), &key, &location(s, cx));
    let (parsing, finish) = (reading.syslog.clone(), reading.finish.clone());
    Ok(SourceDriver {
        key,
        opened_with: format!("{shown} {ownership:?} {lines} {} {}", reading.fixed(), optional.attempt()),
        driver: "pipe",
        instance: shown,
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::new(parsing.clone(), finish.clone(), program)),
        start: Box::new(PipeStart {
            path,
            optional,
            create_dirs: s.bool("create-dirs").unwrap_or(false),
            ownership,
            reading,
            multi_line: multi_line.map(|(mode, _)| mode),
        }),
    })
}

struct PipeStart {
    path: PathBuf,
    optional: Optional,
    create_dirs: bool,
    ownership: Ownership,
    reading: Reading,
    multi_line: Option<Mode>,
}

impl PipeStart {
    fn open(&self) -> io::Result<File> {
        if self.create_dirs {
            transport::create_parents(&self.path, &self.ownership)?;
        }
        match std::fs::metadata(&self.path) {
            Ok(meta) if !meta.file_type().is_fifo() => {
                let text =
                    "it is no named pipe; remove it, and the pipe will be made, or choose another path";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
            }
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let mode = nix::sys::stat::Mode::from_bits_truncate(self.ownership.perm.unwrap_or(MODE));
                nix::unistd::mkfifo(&self.path, mode)?;
            }
            Err(e) => return Err(e),
        }
        transport::apply_ownership(&self.path, &self.ownership)?;
        // Opened for writing too: without it the pipe would end with each writer.
        let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path)
    }
}

impl Start for PipeStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let file = match self.open() {
            Ok(file) => file,
            Err(error) => {
                let text = format!("cannot open the pipe {}: {error}", self.path.display());
                return self.optional.settle(Err(Fault::local(text)));
            }
        };
        let worker = shared.any_worker()?;
        let reading = &self.reading;
        let mut context = Context::local(&reading.group, &reading.local_name, "local+pipe");
        context.values.push((NameId::FILE_NAME, self.path.as_os_str().as_bytes().into()));
        let (source, context) = (Arc::clone(source), Arc::new(context));
        let unnamed = Unnamed::new(reading, self.multi_line.as_ref());
        worker.add(move |token, cx| {
            register(&file.as_raw_fd(), cx.handle.registry(), token)?;
            let (input, options) = unnamed.wrap(Box::new(FdInput(file)));
            Ok(Box::new(StreamPort::new(input, source, context, options, cx, token)))
        });
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        // Nothing ends for want of an optional source.
        if self.optional.is() {
            return Vec::new();
        }
        vec![Need::Place { path: self.path.clone(), what: Made::Pipe, create_dirs: self.create_dirs }]
    }
}

#[cfg(test)]
mod tests;
