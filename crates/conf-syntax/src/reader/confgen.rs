//! confgen: a call is replaced by the output of a command.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use diag::{Diagnostic, Span};

use super::Reader;

impl Reader<'_> {
    /// The output of the command, or None with the reason reported. Bounded in time and size.
    pub(super) fn run_confgen(
        &mut self,
        name: &str,
        exec: &str,
        args: &[(String, String)],
        call: Span,
    ) -> Option<String> {
        if !self.options.run_commands {
            self.diags.push(
                Diagnostic::error(
                    "P0046",
                    format!("`{name}` runs a command, which is not allowed here"),
                    call,
                )
                .note(format!("the command is: {exec}")),
            );
            return None;
        }
        match self.run(exec, args) {
            Ok(output) => Some(output),
            Err(reason) => {
                self.diags.push(
                    Diagnostic::error("P0046", format!("the command of `{name}` failed: {reason}"), call)
                        .note(format!("the command is: {exec}")),
                );
                None
            }
        }
    }

    fn run(&self, exec: &str, args: &[(String, String)]) -> Result<String, String> {
        let limits = &self.options.limits;
        let mut child = Command::new("/bin/sh")
            .args(["-c", exec])
            .envs(args.iter().map(|(k, v)| (format!("confgen_{k}"), v)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let stdout = child.stdout.take().ok_or("no output")?;
        let bytes_max = limits.expanded_bytes as u64;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let result = stdout.take(bytes_max + 1).read_to_end(&mut bytes).map(|_| bytes);
            // The receiver may have given up: nothing to do about it then.
            let _ = sender.send(result);
        });
        let bytes = match receiver.recv_timeout(limits.command_time) {
            Ok(result) => result.map_err(|e| e.to_string()),
            Err(_) => Err(format!("it ran longer than {} seconds", limits.command_time.as_secs())),
        };
        let bytes = match bytes {
            Ok(bytes) if bytes.len() as u64 <= bytes_max => bytes,
            Ok(_) => return end(child, format!("its output is larger than {bytes_max} bytes")),
            Err(reason) => return end(child, reason),
        };
        let status = child.wait().map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(status.to_string());
        }
        String::from_utf8(bytes).map_err(|_| "its output is not valid UTF-8".into())
    }
}

fn end(mut child: Child, reason: String) -> Result<String, String> {
    // Both fail only when it is gone already.
    let _ = child.kill();
    let _ = child.wait();
    Err(reason)
}
