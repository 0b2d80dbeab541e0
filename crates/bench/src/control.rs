//! Questions to a running penstock over its control socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use stdio::CommandError;

/// A line of the control protocol and its answer.
pub fn ask(control: &std::path::Path, line: &str) -> Result<String, CommandError> {
    let failed = |e: std::io::Error| format!("{line}: {e}");
    let mut stream = UnixStream::connect(control).map_err(failed)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    for line in BufReader::new(stream).lines() {
        match line.map_err(failed)? {
            line if line == "." => return Ok(answer),
            line => answer.push_str(&(line + "\n")),
        }
    }
    Err(format!("{line}: the answer does not end").into())
}
