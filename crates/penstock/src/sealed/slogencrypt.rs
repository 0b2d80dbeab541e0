//! `slogencrypt`: seals the lines of a log that exists.

use super::{Lines, buffers, compat, file, told};
use clap::Parser;
use slog::{Position, Scheme, begin_mac, first_mac_path, read_position, write_key, write_mac};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use stdio::CommandError;

/// Seal a log that exists
#[derive(Debug, Parser)]
#[command(
    name = "slogencrypt",
    disable_version_flag = true,
    after_help = "\
Example:
  slogencrypt -k host.key -m mac.dat host.key.new mac.dat.new messages messages.slog

Goes on from host.key and mac.dat, where the MAC file may be missing while nothing was sealed with the key, and leaves what the next
entry continues from in the new files. An empty line is sealed as one with a blank."
)]
struct Args {
    /// Current host key file
    #[arg(short, long, value_name = "FILE")]
    key_file: PathBuf,
    /// Current MAC file
    #[arg(short, long, value_name = "FILE")]
    mac_file: PathBuf,
    /// The release whose slogverify is to open the log, 3.38 or 4.27; of a key that has sealed entries, those
    /// decide
    #[arg(long, value_name = "RELEASE", value_parser = compat)]
    compat: Option<Scheme>,
    /// Host key file to write
    #[arg(value_name = "NEWKEY")]
    new_key: PathBuf,
    /// MAC file to write
    #[arg(value_name = "NEWMAC")]
    new_mac: PathBuf,
    #[arg(value_name = "INPUTLOG")]
    input: PathBuf,
    #[arg(value_name = "OUTPUTLOG")]
    output: PathBuf,
    /// Accepted, without effect
    #[arg(value_name = "BUFFERS", value_parser = buffers)]
    _buffers: Option<u64>,
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// Runs the command line; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    super::run("slogencrypt", args, seal)
}

fn seal(args: &Args) -> Result<ExitCode, CommandError> {
    // The file of the first MAC beside the MAC file says that, too.
    let is_begun = first_mac_path(&args.mac_file).exists();
    let wanted = args.compat.unwrap_or(if is_begun { Scheme::Expanded } else { Scheme::Blocks });
    let mut position: Position = read_position(&args.key_file, &args.mac_file, wanted).map_err(told)?;
    if position.counter == 0 && position.key.scheme() == Scheme::Expanded {
        position.mac = begin_mac(&args.mac_file).map_err(told)?;
        let beside = first_mac_path(&args.new_mac);
        if !beside.exists() {
            write_mac(&beside, &position.mac).map_err(told)?;
        }
    }
    let mut lines = Lines::of(&args.input)?;
    let output = std::fs::File::create(&args.output).map_err(|e| file(&args.output, &e))?;
    let mut output = std::io::BufWriter::new(output);
    let mut entry = Vec::new();
    while let Some(line) = lines.next().map_err(|e| file(&args.input, &e))? {
        entry.clear();
        let text: &[u8] = if line.is_empty() { b" " } else { line };
        position.seal(text, &mut entry).map_err(|e| format!("no random numbers: {e}"))?;
        entry.push(b'\n');
        output.write_all(&entry).map_err(|e| file(&args.output, &e))?;
    }
    let written = output.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|f| f.sync_all());
    written.map_err(|e| file(&args.output, &e))?;
    write_mac(&args.new_mac, &position.mac).map_err(told)?;
    write_key(&args.new_key, &position).map_err(told)?;
    Ok(ExitCode::SUCCESS)
}
