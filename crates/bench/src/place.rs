//! The folder and ports of one measurement.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stdio::CommandError;

/// Bytes of one write of [`Place::warm`].
const WARM_CHUNK: usize = 1 << 20;

/// The most sinks of a case.
pub const SINKS_MAX: usize = 5;

pub struct Place {
    pub root: PathBuf,
    /// Where the receiver's output files go.
    pub output: PathBuf,
    /// Where input files are written, and where they are moved to be read.
    pub prepared: PathBuf,
    pub input: PathBuf,
    /// The receiver's port.
    pub port: u16,
    /// The sink's port, in cases with one.
    pub sink_port: u16,
    /// Those of further sinks.
    more_ports: Vec<u16>,
    keep: bool,
}

impl Place {
    /// Makes a new folder below `parent`.
    pub fn new(parent: &Path, name: &str, keep: bool) -> Result<Place, CommandError> {
        let root = parent.join(format!("{name}-{}", std::process::id()));
        let output = root.join("output");
        // What an earlier run of the same process number left behind would be counted.
        let _ = fs::remove_dir_all(&root);
        let (prepared, input) = (root.join("prepared"), root.join("input"));
        for folder in [&output, &prepared, &input] {
            fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
        }
        let (port, sink_port) = free_ports()?;
        let more_ports =
            (1..SINKS_MAX).map(|_| free_ports().map(|(port, _)| port)).collect::<Result<_, _>>()?;
        Ok(Place { root, output, prepared, input, port, sink_port, more_ports, keep })
    }

    /// The port of the sink with this number, from 0.
    pub fn sink_port_of(&self, number: usize) -> u16 {
        let more = number.checked_sub(1).and_then(|at| self.more_ports.get(at));
        more.copied().unwrap_or(self.sink_port)
    }

    /// Where relays keep what waits.
    pub fn buffer(&self) -> PathBuf {
        self.root.join("buffer")
    }

    /// Bytes that wait there, as far as the disk has blocks for them.
    pub fn buffered(&self) -> u64 {
        fn blocks(folder: &Path) -> u64 {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let bytes = |entry: fs::DirEntry| match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => blocks(&entry.path()),
                Ok(metadata) => metadata.blocks() * 512,
                Err(_) => 0,
            };
            entries.map(bytes).sum()
        }
        blocks(&self.buffer())
    }

    /// Where the certificates of a TLS server are.
    pub fn certificates(&self) -> PathBuf {
        self.root.join("certificates")
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, CommandError> {
        let path = self.root.join(name);
        fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(path)
    }

    /// Writes `bytes` and removes them again, so that the page cache of the measurement is made of memory the
    /// machine has at hand. A virtual machine that has to be given memory first spends more time on that than
    /// on the messages.
    pub fn warm(&self, bytes: u64) -> Result<(), CommandError> {
        let path = self.root.join("warm");
        let failed = |e| format!("cannot write {}: {e}", path.display());
        let mut file = fs::File::create(&path).map_err(failed)?;
        let chunk = vec![0; WARM_CHUNK];
        for _ in 0..bytes.div_ceil(WARM_CHUNK as u64) {
            file.write_all(&chunk).map_err(failed)?;
        }
        Ok(fs::remove_file(&path).map_err(failed)?)
    }

    /// The output files in the order of their names.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.output).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        files
    }

    /// Bytes of output so far.
    pub fn size(&self) -> u64 {
        let entries = fs::read_dir(&self.output).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// A port that nobody has now, for TCP and UDP.
pub fn free_port() -> Result<u16, CommandError> {
    free_ports().map(|(port, _)| port)
}

/// Two different ports that nobody has now, for TCP and UDP.
fn free_ports() -> Result<(u16, u16), CommandError> {
    let failed = |e| format!("no free port: {e}");
    for _ in 0..50 {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let second = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = first.local_addr().map_err(failed)?.port();
        if UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok((port, second.local_addr().map_err(failed)?.port()));
        }
    }
    Err("no port is free for both TCP and UDP".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_and_go() {
        let parent = tempfile::tempdir().unwrap();
        let root = {
            let place = Place::new(parent.path(), "case", false).unwrap();
            fs::write(place.output.join("b"), "12345").unwrap();
            fs::write(place.output.join("a"), "123").unwrap();
            assert_eq!(place.size(), 8);
            assert_eq!(place.files(), [place.output.join("a"), place.output.join("b")]);
            assert_ne!(place.port, place.sink_port);
            place.root.clone()
        };
        assert!(!root.exists());
    }
}
