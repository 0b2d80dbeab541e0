//! What the processes write to their standard output and error, for the log of the program: lines that
//! classes print, what they say through Logger, and the last words of a process that crashes.

use oplog::Level;
use parking_lot::{Condvar, Mutex};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Marks that `syslogng._wire` puts into lines of Logger: begin, end of the name, line ends within the text.
const MARK: u8 = 2;
const BEHIND_NAME: u8 = 3;
const LINE_END: u8 = 0x1d;
/// Bytes of a line; the rest of a longer one is another line.
const LINE_BYTES_MAX: u64 = 8192;

/// A line of the program's own, behind a line end for those who wrote none: what stands before it was read.
const ASKED: &[u8] = b"\n\x02\x03\n";
/// How long what was written may take to be read.
const CATCH_UP: Duration = Duration::from_millis(500);

/// The pipe that the processes write to, and the thread that reads it until the last of them has closed its
/// end.
pub struct Output {
    pub writer: PipeWriter,
    heard: Arc<Heard>,
}

/// How many lines of the program's own were read.
#[derive(Default)]
struct Heard {
    count: Mutex<u64>,
    more: Condvar,
}

impl Output {
    pub fn new() -> std::io::Result<Output> {
        let (reader, writer) = std::io::pipe()?;
        let heard = Arc::<Heard>::default();
        let tells = Arc::clone(&heard);
        std::thread::Builder::new().name("python-output".to_owned()).spawn(move || follow(reader, &tells))?;
        Ok(Output { writer, heard })
    }

    /// Waits until what the processes have written is in the log: before an error that it explains, and
    /// before the end of the program.
    pub fn catch_up(&self) {
        let mut count = self.heard.count.lock();
        let before = *count;
        if (&self.writer).write_all(ASKED).is_err() {
            return;
        }
        let until = Instant::now() + CATCH_UP;
        while *count == before && !self.heard.more.wait_until(&mut count, until).timed_out() {}
    }
}

fn follow(reader: PipeReader, heard: &Heard) {
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if ASKED.get(1..) == Some(&*line) => {
                *heard.count.lock() += 1;
                heard.more.notify_all();
            }
            Ok(_) => say(&line),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The parts of a line: level, who says it, text.
fn parts(line: &[u8]) -> (Level, String, String) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let marked = match line {
        [MARK, level, rest @ ..] => rest
            .iter()
            .position(|byte| *byte == BEHIND_NAME)
            .and_then(|at| Some((*level, rest.get(..at)?, rest.get(at + 1..)?))),
        _ => None,
    };
    let Some((level, name, text)) = marked else {
        return (Level::Warning, "python3".to_owned(), String::from_utf8_lossy(line).into_owned());
    };
    let level = match level {
        b'c' => Level::Critical,
        b'e' => Level::Error,
        b'w' => Level::Warning,
        b'n' => Level::Notice,
        b'd' => Level::Debug,
        b't' => Level::Trace,
        _ => Level::Info,
    };
    let text: Vec<u8> = text.iter().map(|byte| if *byte == LINE_END { b'\n' } else { *byte }).collect();
    let [name, text] = [name, &text].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (level, name, text)
}

fn say(line: &[u8]) {
    let (level, class, text) = parts(line);
    if !text.trim().is_empty() {
        oplog::logger().log(level, "Message from Python", &[("class", &class), ("text", &text)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_when_it_is_asked_for() {
        let output = Output::new().expect("a pipe");
        (&output.writer).write_all(b"no line end").expect("it is read");
        for round in 1..4 {
            output.catch_up();
            assert_eq!(*output.heard.count.lock(), round);
        }
    }

    #[test]
    fn lines_with_and_without_a_mark() {
        let of = |line: &[u8]| {
            let (level, name, text) = parts(line);
            (level == Level::Error, name, text)
        };
        assert_eq!(of(b"\x02emod.A\x03one\x1dtwo\n"), (true, "mod.A".to_owned(), "one\ntwo".to_owned()));
        assert_eq!(of(b"Fatal error\n"), (false, "python3".to_owned(), "Fatal error".to_owned()));
        assert_eq!(of(b"\x02e no end"), (false, "python3".to_owned(), "\x02e no end".to_owned()));
    }
}
