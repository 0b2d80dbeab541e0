//! A penstock beside the one that is measured: in front of it, or behind.

use crate::place::Place;
use crate::process::Process;
use crate::receiver::{Command, Programs};
use std::ffi::OsStr;
use stdio::CommandError;

/// Starts it with this configuration, and waits until it listens on `port`. Its files begin with `name`.
pub fn start(
    name: &str,
    config: &str,
    port: u16,
    place: &Place,
    programs: &Programs,
) -> Result<Process, CommandError> {
    let config = place.write(&format!("{name}.conf"), config)?;
    let state = place.root.join(name);
    std::fs::create_dir_all(&state).map_err(|e| format!("{}: {e}", state.display()))?;
    let words: [&OsStr; 5] =
        ["run".as_ref(), "--config".as_ref(), config.as_ref(), "--state-dir".as_ref(), state.as_ref()];
    let program = programs.penstock.clone().ok_or("penstock is not here")?;
    let args = words.iter().map(|&word| word.to_owned()).collect();
    let mut process = Process::start(&Command { program, args }, place.root.join(format!("{name}.log")))?;
    process.wait_listening(port, false)?;
    Ok(process)
}
