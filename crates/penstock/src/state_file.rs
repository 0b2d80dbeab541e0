//! `penstock state`, also called as `persist-tool`: looks into the state file, and changes it while no
//! program has it.

mod lines;

use std::ffi::OsString;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use control::cli::{Running, STATE_FILE_NAME};
use state::Store;

use crate::printing::written;
use stdio::CommandError;

/// Look into the state file, change it: what has to be known after a restart, such as how far files were read
#[derive(Debug, Parser)]
#[command(
    name = "penstock state",
    disable_version_flag = true,
    after_help = "\
Examples:
  penstock state dump
  penstock state dump --prefix 'affile_sd_curpos(/var/log/a'
  penstock state remove 'affile_sd_curpos(/var/log/app.log)/fd01:2a4'     read that file from its beginning
  penstock state dump | ssh other penstock state add

`dump` and `get` also work while the program runs, the others only while it does not.
Exit code: 0 done, 1 not done, or get: there is no such name; 2 wrong usage."
)]
struct Native {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    running: Running,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print names and values, a line each: NAME = { "value": "HEXADECIMAL" }
    Dump {
        /// Only names that begin with this
        #[arg(long, default_value = "")]
        prefix: String,
    },
    /// Print one value, in hexadecimal
    Get { name: String },
    /// Forget names
    Remove {
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Put in what `dump` has printed
    Add {
        /// File with lines of `dump`; `-` is standard input
        #[arg(default_value = "-")]
        input: PathBuf,
    },
}

/// Displays, generates and adds entries of persist files
#[derive(Debug, Parser)]
#[command(name = "persist-tool", disable_version_flag = true)]
struct Persist {
    #[command(subcommand)]
    command: PersistCommand,
}

#[derive(Debug, Subcommand)]
enum PersistCommand {
    /// Print names and values of a persist file
    Dump {
        /// The persist file: what the program keeps beside it is read, FILE.d/penstock.state
        file: PathBuf,
    },
    /// Make an empty persist file
    Generate {
        /// Replace one that is there
        #[arg(short, long)]
        force: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Add entries to a persist file
    Add {
        #[command(flatten)]
        output: Output,
        /// File with lines of `dump`; `-` is standard input
        input: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Output {
    /// Folder of the persist file
    #[arg(short, long, value_name = "FOLDER")]
    output_dir: PathBuf,
    /// Its name
    #[arg(short, long, value_name = "NAME", default_value = "syslog-ng.persist")]
    persist_name: String,
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Native as clap::CommandFactory>::command()
}

/// `penstock state`.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let Native { command, running } = match Native::try_parse_from(args) {
        Ok(native) => native,
        Err(error) => return crate::usage(&error),
    };
    let file = match running.folder() {
        Ok(folder) => folder.join(STATE_FILE_NAME),
        Err(error) => return error.report(),
    };
    let done = match command {
        Command::Dump { prefix } => dump(&file, prefix.as_bytes()),
        Command::Get { name } => get(&file, &name),
        Command::Remove { names } => remove(&file, &names),
        Command::Add { input } => add(&file, &input),
    };
    stdio::finish(done.map(|()| true))
}

/// The command line of `persist-tool`.
pub fn run_as_persist_tool(args: Vec<OsString>) -> ExitCode {
    let command = match Persist::try_parse_from(args) {
        Ok(persist) => persist.command,
        Err(error) => return crate::usage(&error),
    };
    let done = match command {
        PersistCommand::Dump { file } => beside(&file).and_then(|file| dump(&file, b"")),
        PersistCommand::Generate { force, output } => generate(&output, force),
        PersistCommand::Add { output, input } => {
            beside(&output.output_dir.join(&output.persist_name)).and_then(|file| add(&file, &input))
        }
    };
    stdio::finish(done.map(|()| true))
}

/// The state file of a persist file's name, as `syslog-ng -R` has it, or the file itself when it is one of
/// ours.
fn beside(persist: &Path) -> Result<PathBuf, CommandError> {
    if persist.file_name().is_some_and(|name| name == STATE_FILE_NAME) {
        return Ok(persist.to_owned());
    }
    let file = control::cli::state_dir(persist).join(STATE_FILE_NAME);
    match regular::read(persist, 1 << 30) {
        Ok(bytes) if !file.exists() && bytes.starts_with(b"SLP4") => Err(format!(
            "{} is syslog-ng's own persist file, which is not read here: penstock keeps its state in {}",
            persist.display(),
            file.display()
        )
        .into()),
        _ => Ok(file),
    }
}

fn wrong(file: &Path) -> impl Fn(std::io::Error) -> CommandError + '_ {
    move |error| CommandError::failed(format!("cannot use {}: {error}", file.display()))
}

/// Opens what is there; nothing is made.
fn open(file: &Path) -> Result<Store, CommandError> {
    std::fs::metadata(file).map_err(wrong(file))?;
    Store::open(file).map_err(wrong(file))
}

fn dump(file: &Path, prefix: &[u8]) -> Result<(), CommandError> {
    dump_to(std::io::stdout().lock(), file, prefix)
}

fn dump_to(out: impl Write, file: &Path, prefix: &[u8]) -> Result<(), CommandError> {
    let entries = Store::look(file).map_err(wrong(file))?;
    let mut out = BufWriter::new(out);
    let mut wanted = entries.iter().filter(|(name, _)| name.starts_with(prefix));
    let outcome = wanted.try_for_each(|(name, value)| writeln!(out, "{}", lines::line(name, value)));
    written(outcome.and_then(|()| out.flush()))
}

fn get(file: &Path, name: &str) -> Result<(), CommandError> {
    let wanted = lines::name(name);
    let entries = Store::look(file).map_err(wrong(file))?;
    let (_, value) = entries.iter().find(|(name, _)| *name == wanted).ok_or("there is no such name")?;
    written(writeln!(std::io::stdout(), "{}", lines::hexadecimal(value)))
}

fn remove(file: &Path, names: &[String]) -> Result<(), CommandError> {
    let store = open(file)?;
    let names: Vec<Vec<u8>> = names.iter().map(|name| lines::name(name)).collect();
    if let Some(missing) = names.iter().find(|name| store.get(name).is_none()) {
        return Err(format!("there is no {}; nothing is removed", String::from_utf8_lossy(missing)).into());
    }
    names.iter().for_each(|name| store.remove(name));
    store.sync().map_err(wrong(file))
}

/// All lines or none.
fn add(file: &Path, input: &Path) -> Result<(), CommandError> {
    let mut text = String::new();
    let read = match input.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text),
        false => std::fs::File::open(input).and_then(|mut input| input.read_to_string(&mut text)),
    };
    read.map_err(wrong(input))?;
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let entry = lines::parse(line);
        entries.push(entry.ok_or_else(|| format!("{}:{}: no line of `dump`", input.display(), number + 1))?);
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(wrong(folder))?;
    }
    let store = Store::open(file).map_err(wrong(file))?;
    store.put_all(entries.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
    store.sync().map_err(wrong(file))
}

fn generate(output: &Output, force: bool) -> Result<(), CommandError> {
    let file = control::cli::state_dir(&output.output_dir.join(&output.persist_name)).join(STATE_FILE_NAME);
    if file.exists() {
        if !force {
            return Err(format!("{} is there already; give --force to replace it", file.display()).into());
        }
        // Not one that is in use.
        drop(open(&file)?);
        std::fs::remove_file(&file).map_err(wrong(&file))?;
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(wrong(folder))?;
    }
    Store::open(&file).map(drop).map_err(wrong(&file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Native::command().debug_assert();
        Persist::command().debug_assert();
    }

    #[test]
    fn what_is_dumped_can_be_added_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (there, here) = (folder.path().join("a").join(STATE_FILE_NAME), folder.path().join("lines"));
        std::fs::write(&here, "a b = { \"value\": \"01 ff\" }\n\n  c\\x0a = { \"value\": \"\" }\n").unwrap();
        add(&there, &here).unwrap();
        let entries = Store::look(&there).unwrap();
        assert_eq!(entries, [(b"a b".to_vec(), vec![1, 255]), (b"c\n".to_vec(), vec![])]);
        assert!(get(&there, "c\\x0a").is_ok() && get(&there, "d").is_err());
        std::fs::write(&here, "d = { \"value\": \"01\" }\nnonsense\n").unwrap();
        assert!(add(&there, &here).unwrap_err().said().ends_with("lines:2: no line of `dump`"));
        assert!(get(&there, "d").is_err(), "all lines or none");
        assert!(
            remove(&there, &["a b".into(), "x".into()]).unwrap_err().said().contains("nothing is removed")
        );
        remove(&there, &["a b".into()]).unwrap();
        let running = Store::open(&there).unwrap();
        assert!(remove(&there, &["c\\x0a".into()]).unwrap_err().said().contains("another running program"));
        let mut shown = Vec::new();
        dump_to(&mut shown, &there, b"").expect("looking is always possible");
        assert_eq!(String::from_utf8_lossy(&shown), "c\\x0a = { \"value\": \"\" }\n");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
        assert!(dump_to(full, &there, b"").is_err_and(|error| error.said().starts_with("cannot write")));
        drop(running);
        assert!(dump(Path::new("/nowhere/x"), b"").is_err() && remove(&here, &["a".into()]).is_err());
    }

    #[test]
    fn persist_files_have_their_state_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let output = || Output { output_dir: folder.path().to_owned(), persist_name: "x.persist".into() };
        generate(&output(), false).unwrap();
        assert!(generate(&output(), false).unwrap_err().said().contains("--force"));
        generate(&output(), true).unwrap();
        let persist = folder.path().join("x.persist");
        assert_eq!(beside(&persist).unwrap(), folder.path().join("x.persist.d").join(STATE_FILE_NAME));
        let foreign = folder.path().join("y.persist");
        std::fs::write(&foreign, b"SLP4....").unwrap();
        assert!(beside(&foreign).unwrap_err().said().contains("syslog-ng's own"));
        assert_eq!(beside(Path::new("/a/penstock.state")).unwrap(), Path::new("/a/penstock.state"));
    }
}
