//! `penstock pdb`, also called as `pdbtool`: tries, tests, merges and makes pattern databases.

pub mod examples;
mod lookup;
mod making;
pub mod session;
mod trees;

use clap::{ArgAction, Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use stdio::CommandError;

/// Where a database is looked for when none is named.
const DATABASE: &str = "/var/lib/syslog-ng/patterndb.xml";

/// Try, test, merge and make pattern databases.
#[derive(Debug, Parser)]
#[command(name = "pdbtool", disable_version_flag = true)]
struct Pdb {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: LogOptions,
}

/// syslog-ng's own, after any command.
#[derive(Debug, Args)]
struct LogOptions {
    /// Say more on standard error: warnings about the database [-d but for patternize, too]
    #[arg(short, long, global = true, visible_aliases = ["debug", "log-verbose", "log-debug"])]
    verbose: bool,
    /// The same
    #[arg(short, long, global = true, visible_alias = "startup-debug")]
    trace: bool,
    /// Accepted, without effect: messages go to standard error in any case
    #[arg(short = 'e', long, global = true)]
    stderr: bool,
    /// Accepted, without effect: there are no modules to load
    #[arg(long, global = true, value_name = "MODULE")]
    module: Vec<String>,
    /// Accepted, without effect, as --module
    #[arg(long, global = true, value_name = "PATH")]
    module_path: Option<String>,

    #[arg(long, global = true, hide = true, action = ArgAction::Help)]
    help_all: Option<bool>,
    #[arg(long, global = true, hide = true, action = ArgAction::Help)]
    help_log: Option<bool>,
}

impl LogOptions {
    fn is_verbose(&self) -> bool {
        self.verbose || self.trace
    }
}

/// `-d`, apart from --debug: patternize has another one.
#[derive(Debug, Args)]
struct ShortDebug {
    #[arg(short, hide = true)]
    debug: bool,
}

/// `-r`, apart from --startup-debug: test and merge have others.
#[derive(Debug, Args)]
struct ShortStartup {
    #[arg(short = 'r', hide = true)]
    startup: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look up messages; exit code 0 when a rule matched, 1 when none did
    #[command(visible_alias = "lookup")]
    Match(MatchArgs),
    /// Check databases, and their rules with the examples in them
    Test(TestArgs),
    /// Make one database of those in a folder
    Merge(MergeArgs),
    /// Print the tree of patterns
    Dump(DumpArgs),
    /// List the names of the values, or the tags, that rules set
    Dictionary(DumpArgs),
    /// Make rules of log messages
    Patternize(PatternizeArgs),
}

#[derive(Debug, Args)]
struct MatchArgs {
    #[command(flatten)]
    startup: ShortStartup,
    #[command(flatten)]
    short: ShortDebug,
    /// Database
    #[arg(short, long, value_name = "FILE", default_value = DATABASE)]
    pdb: PathBuf,
    /// Program of the message
    #[arg(short = 'P', long, default_value = "")]
    program: String,
    /// The message without its header
    #[arg(short = 'M', long, required_unless_present = "file", allow_hyphen_values = true)]
    message: Option<String>,
    /// Show which part of the pattern matched which part of the message
    #[arg(short = 'D', long)]
    debug_pattern: bool,
    /// The same as comma-separated values
    #[arg(short = 'C', long)]
    debug_csv: bool,
    /// Colour what parsers matched
    #[arg(short, long)]
    color_out: bool,
    /// Print messages with this template
    #[arg(short = 'T', long, value_name = "TEMPLATE")]
    template: Option<String>,
    /// Read syslog messages from a file, `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "message")]
    file: Option<PathBuf>,
    /// Print only messages this filter expression matches
    #[arg(short = 'F', long, value_name = "EXPRESSION")]
    filter: Option<String>,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    #[command(flatten)]
    short: ShortDebug,
    /// Databases
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Warnings count as errors
    #[arg(long)]
    validate: bool,
    /// Only the rule with this id
    #[arg(short, long, value_name = "ID")]
    rule_id: Option<String>,
    /// Show the patterns of examples that went wrong
    #[arg(short = 'D', long)]
    debug_pattern: bool,
    /// Colour what parsers matched
    #[arg(short, long)]
    color_out: bool,
    /// Also report rules that take messages of others, and rules no example of the file reaches
    #[arg(long)]
    report: bool,
}

#[derive(Debug, Args)]
struct MergeArgs {
    #[command(flatten)]
    short: ShortDebug,
    /// Database to write
    #[arg(short, long, value_name = "FILE", default_value = DATABASE)]
    pdb: PathBuf,
    /// Folder of the databases
    #[arg(short = 'D', long, value_name = "FOLDER")]
    directory: PathBuf,
    /// Folders inside of it too
    #[arg(short, long)]
    recursive: bool,
    /// Only files whose name fits
    #[arg(short = 'G', long, value_name = "PATTERN")]
    glob: Option<String>,
    /// In the order of their names, folder by folder; this is always so
    #[arg(short, long)]
    sort: bool,
}

#[derive(Debug, Args)]
struct DumpArgs {
    #[command(flatten)]
    startup: ShortStartup,
    #[command(flatten)]
    short: ShortDebug,
    /// Database
    #[arg(short, long, value_name = "FILE", default_value = DATABASE)]
    pdb: PathBuf,
    /// Only what is for this program
    #[arg(short = 'P', long)]
    program: Option<String>,
    /// dump: the tree of programs; dictionary: tags instead of names
    #[arg(short = 'T', long, visible_alias = "program-tree", visible_alias = "dump-tags")]
    tree: bool,
}

#[derive(Debug, Args)]
struct PatternizeArgs {
    #[command(flatten)]
    startup: ShortStartup,
    /// Log file, `-` for standard input
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
    /// Lines are messages without a header
    #[arg(short = 'p', long)]
    no_parse: bool,
    /// Percent of the lines that a pattern covers at least
    #[arg(short = 'S', long, default_value_t = 4.0)]
    support: f64,
    /// Go on with the lines that no pattern covers
    #[arg(short = 'o', long)]
    iterate_outliers: bool,
    /// Give parsers names
    #[arg(short, long)]
    named_parsers: bool,
    /// Characters that separate words
    #[arg(short = 'd', long, default_value = patterndb::cluster::DELIMITERS, allow_hyphen_values = true)]
    delimiters: String,
    /// Example messages in each rule
    #[arg(long, default_value_t = 1)]
    samples: usize,
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Pdb as clap::CommandFactory>::command()
}

/// Runs the command line; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let pdb = match Pdb::try_parse_from(args) {
        Ok(pdb) => pdb,
        Err(error) => return crate::usage(&error),
    };
    let done = match &pdb.command {
        Command::Match(args) => {
            lookup::run(args, pdb.log.is_verbose() || args.short.debug || args.startup.startup)
        }
        Command::Test(args) => examples::run(args),
        Command::Merge(args) => making::merge(args),
        Command::Dump(args) => trees::dump(args),
        Command::Dictionary(args) => trees::dictionary(args),
        Command::Patternize(args) => making::patternize(args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => error.report(),
    }
}

/// A file's bytes, or why not.
fn read(path: &std::path::Path) -> Result<Vec<u8>, CommandError> {
    let bytes = match path.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
        }
        _ => regular::read(path, filter::FILE_BYTES_MAX),
    };
    Ok(bytes.map_err(|e| format!("cannot read {}: {e}", path.display()))?)
}

/// A database that was read without errors, with its text.
fn database(path: &std::path::Path) -> Result<(Vec<u8>, patterndb::model::Database), CommandError> {
    let bytes = read(path)?;
    let mut loaded = patterndb::load(&path.display().to_string(), &bytes);
    match loaded.database.take() {
        Some(database) => Ok((bytes, database)),
        None => Err(loaded.lines().join("\n").into()),
    }
}

/// Today, as `pub_date` has it.
fn today() -> String {
    let now = record::Civil::from_seconds(record::Stamp::now(0).secs);
    format!("{:04}-{:02}-{:02}", now.year, now.month, now.day)
}

#[cfg(test)]
mod tests;
