//! The questions: each is asked as its user would ask it, and ends with its window.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command as Spawn, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::bed::Bed;
use stdio::CommandError;

/// Beyond its window a question waits so long for its end.
const END_MAX: Duration = Duration::from_secs(10);
/// A command is there and waits after so long.
const BEGUN: Duration = Duration::from_millis(400);
/// Messages that somebody waits for, since the start: each has a word of its own.
static WANTED: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    Explain,
    Tap,
    Console,
    Profile,
}

pub const KINDS: [Kind; 4] = [Kind::Explain, Kind::Tap, Kind::Console, Kind::Profile];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Explain => "explain",
            Kind::Tap => "tap",
            Kind::Console => "console",
            Kind::Profile => "profile",
        }
    }

    pub fn aims(self) -> Aims {
        let (of, message_most, beside_most) = match self {
            Kind::Explain => (Cost::Time, 0.02, 0.01),
            Kind::Tap => (Cost::Cpu, 0.03, 0.03),
            Kind::Console | Kind::Profile => (Cost::Cpu, 0.01, 0.01),
        };
        Aims { of, message_most, beside_most }
    }
}

/// What a question may cost.
pub struct Aims {
    pub of: Cost,
    /// By what share a message may cost more.
    pub message_most: f64,
    /// How much of a core threads beside the workers may need.
    pub beside_most: f64,
}

/// Of what a message may cost more.
pub enum Cost {
    /// The CPU of the workers.
    Cpu,
    /// The time until the next one: what throughput is lost.
    Time,
}

/// A question that is open.
pub enum Question {
    /// A message is sent while somebody waits for it: when the answer is there.
    Explain {
        child: Child,
        wanted: TcpStream,
        word: String,
    },
    Command(Child),
    Stream(TcpStream),
}

impl Question {
    /// `filter` is that of `explain --next`, with WORD for the word of its message.
    pub fn ask(kind: Kind, bed: &Bed, window: Duration, filter: &str) -> Result<Question, CommandError> {
        let seconds = (window + END_MAX).as_secs().to_string();
        match kind {
            Kind::Explain => {
                let failed = |e: std::io::Error| format!("127.0.0.1:{}: {e}", bed.place.port);
                let wanted = TcpStream::connect((Ipv4Addr::LOCALHOST, bed.place.port)).map_err(failed)?;
                let word = format!("wanted{}x", WANTED.fetch_add(1, Ordering::Relaxed));
                let filter = filter.replace("WORD", &word);
                let words = ["explain", "--next", &filter, "--wait", "1", "--timeout", &seconds];
                let output = (Stdio::piped(), Stdio::piped());
                Ok(Question::Explain { child: command(bed, &words, output)?, wanted, word })
            }
            Kind::Tap => {
                let limit = (1000 * (window + END_MAX).as_secs()).to_string();
                let words = ["tap", "s_in", "--rate", "1000", "--limit", &limit, "--timeout", &seconds];
                command(bed, &words, (Stdio::null(), Stdio::null())).map(Question::Command)
            }
            Kind::Profile => {
                let seconds = window.as_secs().max(1).to_string();
                command(bed, &["profile", "--for", &seconds], (Stdio::null(), Stdio::null()))
                    .map(Question::Command)
            }
            Kind::Console => {
                let failed = |e: std::io::Error| format!("the console: {e}");
                let port = bed.place.sink_port;
                let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
                stream.set_nonblocking(false).map_err(failed)?;
                write!(stream, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").map_err(failed)?;
                Ok(Question::Stream(stream))
            }
        }
    }

    /// Ends it. Returns how long its answer took, where one was wanted.
    pub fn end(self) -> Result<Option<Duration>, CommandError> {
        match self {
            Question::Explain { mut child, mut wanted, word } => {
                std::thread::sleep(BEGUN);
                let begin = Instant::now();
                wanted
                    .write_all(format!("<13>Oct 11 22:14:15 host {word}: {word}\n").as_bytes())
                    .map_err(|e| format!("the wanted message: {e}"))?;
                let mut stdout = child.stdout.take().ok_or("explain has no output")?;
                let mut first = [0];
                let read = stdout.read(&mut first).map_err(|e| format!("explain: {e}"))?;
                let took = begin.elapsed();
                let mut said = child.stderr.take();
                end(child);
                if read > 0 {
                    return Ok(Some(took));
                }
                let mut why = String::new();
                said.as_mut()
                    .map(|said| said.read_to_string(&mut why))
                    .transpose()
                    .map_err(|e| e.to_string())?;
                Err(format!("explain gives no answer: {}", why.trim()).into())
            }
            Question::Command(child) => {
                end(child);
                Ok(None)
            }
            Question::Stream(mut stream) => {
                let mut begin = [0; 12];
                let said = stream.read_exact(&mut begin).map_err(|e| format!("the console: {e}"));
                Ok(said.and_then(|()| match &begin {
                    b"HTTP/1.1 200" => Ok(None),
                    other => Err(format!("the console says {}", String::from_utf8_lossy(other))),
                })?)
            }
        }
    }
}

/// `output` is where its output and its errors go.
fn command(bed: &Bed, words: &[&str], output: (Stdio, Stdio)) -> Result<Child, CommandError> {
    let mut spawn = Spawn::new(&bed.program);
    spawn.args(words).arg("--state-dir").arg(&bed.state);
    spawn.stdin(Stdio::null()).stdout(output.0).stderr(output.1);
    Ok(spawn.spawn().map_err(|e| format!("{}: {e}", bed.program.display()))?)
}

fn end(mut child: Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
