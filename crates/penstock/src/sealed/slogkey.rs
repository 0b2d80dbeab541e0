//! `slogkey`: makes master keys and host keys, tells how many entries a key has sealed.

use super::{compat, told};
use clap::Parser;
use slog::{Key, Position, Scheme, create_key, read_key};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use stdio::CommandError;

/// Make keys for sealed logs
#[derive(Debug, Parser)]
#[command(
    name = "slogkey",
    disable_version_flag = true,
    override_usage = "slogkey -m MASTERKEY\n       slogkey -d MASTERKEY MACADDRESS SERIALNUMBER HOSTKEY\n       slogkey -c HOSTKEY",
    after_help = "\
Examples:
  slogkey -m master.key
  slogkey -d master.key 00:16:3e:12:34:56 SN-4711 host.key
  slogkey -c /etc/penstock/host.key

The master key stays where no log is written: whoever has it can open the logs of all hosts. A copy of the host key as it is first
belongs there too, it is what slogverify opens the log with. Files that exist are not written over."
)]
struct Args {
    /// Make a master key
    #[arg(short, long, group = "what")]
    master_key: bool,
    /// Make the first key of a host from a master key and what tells the host from others
    #[arg(short, long, group = "what")]
    derive_host_key: bool,
    /// Print how many entries a host key has sealed
    #[arg(short, long, group = "what")]
    counter: bool,
    /// With -d: the release whose slogkey makes the same key, 3.38 or 4.27. Either key serves either form of
    /// logs
    #[arg(long, value_name = "RELEASE", value_parser = compat, requires = "derive_host_key")]
    compat: Option<Scheme>,
    #[arg(required = true, value_name = "ARGUMENTS")]
    args: Vec<OsString>,
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// Runs the command line; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    super::run("slogkey", args, made)
}

fn made(args: &Args) -> Result<ExitCode, CommandError> {
    match (&*args.args, args.master_key, args.derive_host_key, args.counter) {
        ([path], true, ..) => {
            let key = Key::random().map_err(|e| format!("no random numbers: {e}"))?;
            create(path.as_ref(), key)?;
        }
        ([master, address, serial, host], _, true, _) => {
            let master = read_key(master.as_ref()).map_err(told)?;
            let scheme = args.compat.unwrap_or_default();
            let key = master.key.with_scheme(scheme).of_host(address.as_bytes(), serial.as_bytes());
            create(host.as_ref(), key)?;
        }
        ([path], _, _, true) => {
            let position = read_key(path.as_ref()).map_err(told)?;
            stdio::out!("counter={}", position.counter);
        }
        (_, true, ..) => return Err("--master-key takes one file: slogkey -m MASTERKEY".into()),
        (_, _, true, _) => {
            return Err(
                "--derive-host-key takes four arguments: slogkey -d MASTERKEY MACADDRESS SERIALNUMBER HOSTKEY".into()
            );
        }
        (_, _, _, true) => return Err("--counter takes one file: slogkey -c HOSTKEY".into()),
        _ => return Err("say what to do: --master-key, --derive-host-key or --counter".into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path, key: Key) -> Result<(), CommandError> {
    Ok(create_key(path, &Position::of_key(key)).map_err(|error| match &error {
        slog::Error::File { error: found, .. } if found.kind() == std::io::ErrorKind::AlreadyExists => {
            format!(
                "{error}\n  a key may be all that opens a log: move the old one away, or remove it yourself"
            )
        }
        _ => error.to_string(),
    })?)
}
