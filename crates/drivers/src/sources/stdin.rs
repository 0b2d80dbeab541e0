//! `stdin()`: lines from standard input, be it a pipe, a terminal or a file. The program stops when the input
//! ends.

use conf_schema::{Component, Context, Cost, OptionSpec as Opt, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::file_groups::PAD_SIZE;
use driver_options::source_groups::{MULTILINE_STREAM, NO_CONNECTIONS, READER, SOURCE, STDIN_READER_FLAGS};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use intake::lines::{Lines, PolledInput, serve};
use intake::multi_line::{Mode, multi_line};
use intake::reading::{Defaults, Reading, padded};
use std::io;
use std::sync::Arc;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&STDIN, build)];

static STDIN: Component = Component {
    context: Context::Source,
    name: "stdin",
    aliases: &[],
    positional: &[],
    groups: &[&STDIN_READER_FLAGS, &READER, &SOURCE, &MULTILINE_STREAM, &NO_CONNECTIONS],
    own: &[
        PAD_SIZE,
        Opt::no_effect("follow-freq", "standard input says itself when there is something to read"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads lines from standard input, and stops the program in an orderly way when it ends.",
    example: "stdin(flags(no-parse))",
    cost: Some(Cost::elsewhere("As a connection of `network()`: a read takes what is there.")),
};

/// FILE_NAME and TRANSPORT of what comes from standard input, as in syslog-ng 4.12.
const FILE_NAME: &[u8] = b"/dev/stdin";
const TRANSPORT: &str = "local+stdin";

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let defaults =
        Defaults { framing: padded(s), syslog_protocol: false, expect_hostname: true, local: true };
    let reading = Reading::new(s, cx, &defaults, diags);
    let multi_line = multi_line(s, diags)?;
    let lines = multi_line.as_ref().map(|(_, text)| text.clone()).unwrap_or_default();
    let key = reading.persist_name.clone().unwrap_or_else(|| "stdin".to_owned());
    let (parsing, finish) = (reading.syslog.clone(), reading.finish.clone());
    Ok(SourceDriver {
        key,
        opened_with: format!("{lines} {}", reading.fixed()),
        driver: "stdin",
        instance: "stdin".to_owned(),
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::new(parsing.clone(), finish.clone(), program)),
        start: Box::new(StdinStart { reading, multi_line: multi_line.map(|(mode, _)| mode) }),
    })
}

struct StdinStart {
    reading: Reading,
    multi_line: Option<Mode>,
}

impl Start for StdinStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let stdin = io::stdin();
        rustix::fs::fstat(&stdin).map_err(|e| Fault::local(format!("cannot read standard input: {e}")))?;
        let lines =
            Lines { reading: &self.reading, multi_line: self.multi_line.as_ref(), file_name: FILE_NAME };
        serve(PolledInput { fd: stdin, at_end: stop_program }, &lines, TRANSPORT, shared, source)
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}

/// Everything that was read is in the log paths: the program drains them and exits.
fn stop_program() {
    oplog::notice("Standard input has ended, stopping", &[]);
    let _ = nix::sys::signal::kill(nix::unistd::getpid(), nix::sys::signal::Signal::SIGTERM);
}

#[cfg(test)]
mod tests;
