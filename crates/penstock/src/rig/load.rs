//! What is sent to a copy: the messages of a sample, over and over, by `loggen` in a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use stdio::CommandError;

/// Of a sample so much is sent before it begins again.
const SAMPLE_BYTES_MAX: usize = 32 << 20;

/// Messages as somebody has them: one in a line, or a recording.
pub struct Sample {
    messages: Vec<Vec<u8>>,
}

impl Sample {
    pub fn read(path: &Path) -> Result<Sample, CommandError> {
        let bytes =
            std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(Sample::of(&bytes).map_err(|error| format!("{}: {error}", path.display()))?)
    }

    fn of(bytes: &[u8]) -> Result<Sample, CommandError> {
        let mut messages: Vec<Vec<u8>> = Vec::new();
        if bytes.starts_with(&recording::HEAD) {
            for entry in recording::entries(bytes).map_err(|error| error.to_string())? {
                // A line feed would end the message.
                let text = entry.map_err(|error| error.to_string())?.text;
                messages.push(text.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect());
            }
        } else {
            messages.extend(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
        messages.retain(|message| !message.is_empty());
        let mut left = SAMPLE_BYTES_MAX;
        let fits = |message: &&Vec<u8>| {
            left = left.saturating_sub(message.len() + 1);
            left > 0
        };
        let count = messages.iter().take_while(fits).count();
        messages.truncate(count.max(1));
        if messages.is_empty() { Err("no messages are in it".into()) } else { Ok(Sample { messages }) }
    }

    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        self.messages.iter().map(Vec::as_slice)
    }

    pub fn mean_bytes(&self) -> usize {
        self.messages.iter().map(Vec::len).sum::<usize>() / self.messages.len().max(1)
    }

    /// The same messages in this size: cut off, or with their own text once more.
    pub fn sized(&self, bytes: usize) -> Sample {
        let sized = |message: &Vec<u8>| message.iter().copied().cycle().take(bytes).collect();
        let count = (SAMPLE_BYTES_MAX / bytes.max(1)).max(1);
        Sample { messages: self.messages.iter().take(count).map(sized).collect() }
    }

    pub fn write(&self, path: &Path) -> Result<(), CommandError> {
        let mut text = Vec::with_capacity(self.messages.iter().map(|message| message.len() + 1).sum());
        for message in &self.messages {
            text.extend_from_slice(message);
            text.push(b'\n');
        }
        Ok(std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?)
    }
}

/// How a sample is sent.
#[derive(Clone, Debug)]
pub struct Load {
    /// One message in a line.
    pub file: PathBuf,
    pub connections: u16,
    pub is_secure: bool,
}

impl Load {
    /// Sends to a port of this machine until it is dropped.
    pub fn begin(&self, port: u16) -> Result<Sending, CommandError> {
        let cannot = |error: std::io::Error| format!("cannot send messages: {error}");
        let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
        command.args(["loggen", "--inet", "--stream", "--perf", "--permanent", "--quiet", "--loop-reading"]);
        command.args(["--dont-parse", "--active-connections", &self.connections.to_string()]);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.args(["--threads", &cores.min(self.connections.into()).to_string()]);
        if self.is_secure {
            command.arg("--use-ssl");
        }
        command.arg("--read-file").arg(&self.file).args(["127.0.0.1", &port.to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Sending(child.map_err(cannot)?))
    }
}

pub struct Sending(Child);

impl Drop for Sending {
    fn drop(&mut self) {
        // It may have ended with its connections.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_lines_or_recordings() {
        let sample = Sample::of(b"one\n\nthree\n").expect("a sample");
        assert_eq!((sample.messages.len(), sample.mean_bytes()), (2, 4));
        assert_eq!(sample.sized(7).messages, [b"oneoneo".to_vec(), b"threeth".to_vec()]);
        assert_eq!(sample.sized(2).messages, [b"on".to_vec(), b"th".to_vec()]);
        let mut bytes = recording::HEAD.to_vec();
        recording::append(&mut bytes, &recording::Entry { time: 0, source: "s", peer: None, text: b"a\nb" });
        assert_eq!(Sample::of(&bytes).expect("a sample").messages, [b"a b".to_vec()]);
        assert!(Sample::of(b"\n\n").is_err());
    }
}
