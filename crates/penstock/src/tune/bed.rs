//! One measurement: this program runs a configuration in a folder of its own, messages are sent to it as fast
//! as it takes them, and what it has taken in a time is counted by its own ledger.

use super::change::Change;
use control::cli::CONTROL_FILE_NAME;
use control::client::{Status, request};
use control::ledger::Ledger;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time given to the copy to begin, and to answer.
const BEGIN_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);
/// Before it is measured it runs for so long: caches are warm then, files are open.
const WARM: Duration = Duration::from_millis(300);
/// Bytes that are sent at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// What is sent.
pub struct Load {
    /// Whole lines.
    block: Arc<Vec<u8>>,
    connections: u16,
    duration: Duration,
}

impl Load {
    pub fn of(sample: &[u8], connections: u16, duration: Duration) -> Result<Load, String> {
        let lines: Vec<&[u8]> = sample.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        if lines.is_empty() {
            return Err("the sample has no messages".to_owned());
        }
        let mut block = Vec::new();
        for line in lines.iter().cycle().take(lines.len().max(100_000)) {
            block.extend_from_slice(line);
            block.push(b'\n');
            if block.len() >= BLOCK_BYTES && block.len() >= sample.len().min(BLOCK_BYTES * 64) {
                break;
            }
        }
        Ok(Load { block: Arc::new(block), connections, duration })
    }
}

/// A copy that runs.
pub struct Bed {
    child: Child,
    socket: PathBuf,
    folder: PathBuf,
}

impl Bed {
    /// Messages a second that a configuration takes.
    pub fn rate(config: &str, change: &Change, load: &Load, port: u16) -> Result<f64, String> {
        let bed = Bed::begin(config, change)?;
        let stop = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..load.connections)
            .map(|_| {
                let (stop, block) = (Arc::clone(&stop), Arc::clone(&load.block));
                std::thread::spawn(move || send(port, &block, &stop))
            })
            .collect();
        std::thread::sleep(WARM);
        let measured = bed.count().and_then(|before| {
            let began = Instant::now();
            std::thread::sleep(load.duration);
            Ok((bed.count()? - before) as f64 / began.elapsed().as_secs_f64())
        });
        stop.store(true, Ordering::Relaxed);
        drop(bed);
        for sender in senders {
            // It has ended with its connection.
            let _ = sender.join();
        }
        let rate = measured?;
        if rate > 0.0 { Ok(rate) } else { Err("the copy of the configuration takes no messages".to_owned()) }
    }

    fn begin(config: &str, change: &Change) -> Result<Bed, String> {
        let cannot = |error: std::io::Error| format!("cannot run a copy of the configuration: {error}");
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let folder =
            std::env::temp_dir().join(format!("penstock-tune-{}-{}", std::process::id(), since.as_nanos()));
        std::fs::create_dir(&folder).map_err(cannot)?;
        let (path, log) = (folder.join("copy.conf"), folder.join("log"));
        std::fs::write(&path, config).map_err(cannot)?;
        let program = std::env::current_exe().map_err(cannot)?;
        let output = std::fs::File::create(&log).map_err(cannot)?;
        let mut command = Command::new(program);
        command.arg("run").arg("--config").arg(&path).arg("--state-dir").arg(&folder);
        if let Change::Workers(count) = change {
            command.arg("--worker-threads").arg(count.to_string());
        }
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).spawn().map_err(cannot)?;
        let mut bed = Bed { child, socket: folder.join(CONTROL_FILE_NAME), folder };
        let until = Instant::now() + BEGIN_MAX;
        while bed.count().is_err() {
            let has_ended = bed.child.try_wait().map_err(cannot)?.is_some();
            if has_ended || Instant::now() > until {
                return Err(said(&log));
            }
            std::thread::sleep(LOOK);
        }
        Ok(bed)
    }

    /// Messages that have gone through the log paths so far.
    fn count(&self) -> Result<u64, String> {
        let reply =
            request(&self.socket, "LEDGER JSON", Some(ANSWER_MAX)).map_err(|error| error.to_string())?;
        match reply.status {
            Status::Ok => {
                let ledger = Ledger::from_json(&reply.text)?;
                Ok(ledger.sources.iter().map(|row| row.flow.delivered + row.flow.filtered).sum())
            }
            Status::Fail | Status::Retry => Err(reply.text),
        }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // What it has not written goes to nobody.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The last lines of the log of a copy that does not run.
fn said(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(5)).copied().collect::<Vec<&str>>().join("\n");
    format!("the copy of the configuration does not run:\n{last}")
}

fn send(port: u16, block: &[u8], stop: &AtomicBool) {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return };
    while !stop.load(Ordering::Relaxed) && stream.write_all(block).is_ok() {}
}
