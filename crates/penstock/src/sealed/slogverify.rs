//! `slogverify`: opens a sealed log, and names what is not as it was written.

use super::{Lines, buffers, file, told};
use clap::Parser;
use slog::{Entry, Position, Scheme, Verifier, first_mac_path, read_key, read_mac};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stdio::CommandError;

/// Open a sealed log, say what was changed in it
#[derive(Debug, Parser)]
#[command(
    name = "slogverify",
    disable_version_flag = true,
    after_help = "\
Examples:
  slogverify -k host0.key -m mac.dat messages.slog messages
  slogverify -i -p host.key.before -r mac.dat.before -m mac.dat messages.slog messages

host0.key is the host key as slogkey made it. With -i, a part of a log is opened with the key and the MAC file that were in force when
that part was begun. What could be opened is in the output in any case, each line with its number in front.

Exit code: 0 the log is complete and unchanged, 1 it is not, or a file cannot be read."
)]
struct Args {
    /// Verify a part of a log that is kept in several
    #[arg(short, long, requires = "prev_key_file", requires = "prev_mac_file")]
    iterative: bool,
    /// The first host key
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "iterative",
        conflicts_with = "iterative"
    )]
    key_file: Option<PathBuf>,
    /// The MAC file that was written with the log
    #[arg(short, long, value_name = "FILE")]
    mac_file: PathBuf,
    /// The host key when this part was begun
    #[arg(short, long, value_name = "FILE", requires = "iterative")]
    prev_key_file: Option<PathBuf>,
    /// The MAC file when this part was begun; it need not be there when that is the beginning of all
    #[arg(short = 'r', long, value_name = "FILE", requires = "iterative")]
    prev_mac_file: Option<PathBuf>,
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
    super::run("slogverify", args, verify)
}

fn verifier(args: &Args) -> Result<Verifier, CommandError> {
    let target = read_mac(&args.mac_file).map_err(told)?;
    match (&args.key_file, &args.prev_key_file, &args.prev_mac_file) {
        (_, Some(key), Some(mac)) if args.iterative => {
            let before = as_sealed(args, read_key(key).map_err(told)?)?;
            // Before the first entry there is no MAC, or one to begin with.
            let is_none = before.counter == 0 && before.key.scheme() == Scheme::Blocks;
            let mac = if is_none { [0; 16] } else { read_mac(mac).map_err(told)? };
            Ok(Verifier::part(&before, mac, target))
        }
        (Some(key), ..) => {
            let mut first = as_sealed(args, read_key(key).map_err(told)?)?;
            match first.counter {
                0 => {
                    if first.key.scheme() == Scheme::Expanded {
                        first.mac = read_mac(&first_mac_path(&args.mac_file)).map_err(told)?;
                    }
                    Ok(Verifier::whole(&first, target))
                }
                counter => Err(format!(
                    "{} is not the first key of its host, it has sealed {counter} entries\n  take the copy of the key that was kept when \
                     the log was begun, or verify what came later: -i -p KEY -r MAC",
                    key.display()
                ).into()),
            }
        }
        _ => Err("-k KEY is missing, or -i with -p and -r".into()),
    }
}

/// Lines that are looked at to find out how the log was sealed.
const LOOK_LINES: usize = 100;

/// The key, with keys following from it as they did for the log. Where no line tells, the file of the first
/// MAC does.
fn as_sealed(args: &Args, key: Position) -> Result<Position, CommandError> {
    let mut lines = Lines::of(&args.input)?;
    let mut scheme = None;
    for _ in 0..LOOK_LINES {
        let Some(line) = lines.next().map_err(|e| file(&args.input, &e))? else { break };
        scheme = Entry::read(line).ok().and_then(|entry| Verifier::scheme_of(&key, &entry));
        if scheme.is_some() {
            break;
        }
    }
    let beside = args.prev_mac_file.as_ref().unwrap_or(&args.mac_file);
    let otherwise = if first_mac_path(beside).exists() { Scheme::Expanded } else { key.key.scheme() };
    Ok(Position { key: key.key.clone().with_scheme(scheme.unwrap_or(otherwise)), ..key })
}

fn verify(args: &Args) -> Result<ExitCode, CommandError> {
    if same(&args.input, &args.output) {
        return Err(format!("{} is the log itself, write to another file", args.output.display()).into());
    }
    let mut verifier = verifier(args)?;
    let mut lines = Lines::of(&args.input)?;
    let output = std::fs::File::create(&args.output).map_err(|e| file(&args.output, &e))?;
    let mut output = std::io::BufWriter::new(output);
    let mut text = Vec::new();
    while let Some(line) = lines.next().map_err(|e| file(&args.input, &e))? {
        text.clear();
        let Some(entry) = verifier.line(line, &mut text) else { continue };
        text.push(b'\n');
        let written = write!(output, "{entry:020x}: ").and_then(|()| output.write_all(&text));
        written.map_err(|e| file(&args.output, &e))?;
    }
    output.flush().map_err(|e| file(&args.output, &e))?;
    let report = verifier.finish();
    for finding in &report.findings {
        stdio::err!("slogverify: {}: {finding}", args.input.display());
    }
    if report.more > 0 {
        stdio::err!("slogverify: {}: and {} findings more", args.input.display(), report.more);
    }
    stdio::err!(
        "slogverify: {}: {} lines, {} entries opened, {}",
        args.input.display(),
        report.lines,
        report.entries,
        if report.is_clean() { "complete and unchanged" } else { "NOT as it was written" }
    );
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(crate::EXIT_CONFIG) })
}

/// Whether both names mean one file.
fn same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| std::fs::canonicalize(path).ok();
    found(one).is_some_and(|path| Some(path) == found(other))
}
