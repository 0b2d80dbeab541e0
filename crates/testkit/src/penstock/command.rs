//! Commands of the binary that come to an end.

use super::binary;
use std::path::Path;
use std::process::{Command, Stdio};

/// A finished command of the binary.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command of the binary to its end.
pub fn run_command(args: &[&str]) -> Outcome {
    run_as(binary(), args)
}

/// Runs the binary under another name (a link to it).
pub fn run_as(program: &Path, args: &[&str]) -> Outcome {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output().expect("the binary runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
