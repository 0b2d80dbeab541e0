//! The asking side of the control protocol: one request, one reply.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use stdio::CommandError;
use transport::unix_path;

use crate::refusal::Refusal;

/// A reply longer than this is cut off with an error.
const REPLY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Time given to the program to answer; one that is asked without a limit shows in it that it still answers.
pub const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Time for a program to let somebody in who asks which process it is.
const PROCESS_MAX: Duration = Duration::from_secs(5);
/// What it answers at once, whatever else it does.
const QUICK: &str = "LICENSE";
/// In a take-over nobody listens for a moment: whoever is refused knocks again for so long.
const REFUSED_MAX: Duration = Duration::from_millis(300);
const KNOCK_PAUSE: Duration = Duration::from_millis(10);

/// How the program judged the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// `OK`, or data without a word before it.
    Ok,
    Fail,
    /// Not now; ask again.
    Retry,
}

/// A reply without its status word and closing line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: Status,
    pub text: String,
}

/// Why there is no reply.
#[derive(Debug)]
pub enum ClientError {
    Connect(PathBuf, io::Error),
    /// The connection ended in the middle of a reply, or before it.
    Closed,
    TimedOut(Duration),
    TooLong,
    Io(io::Error),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Connect(path, error) => {
                write!(f, "Error connecting control socket, socket='{}', error='", path.display())?;
                write!(f, "{}'", plain(error))
            }
            ClientError::Closed => f.write_str("Error reading control socket, error='connection closed'"),
            ClientError::TimedOut(limit) => {
                write!(f, "Error reading control socket, error='no answer within {} s'", limit.as_secs())
            }
            ClientError::TooLong => {
                write!(f, "Error reading control socket, error='reply longer than {REPLY_BYTES_MAX} bytes'")
            }
            ClientError::Io(error) => write!(f, "Error reading control socket, error='{}'", plain(error)),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> CommandError {
        CommandError::failed(error.explained())
    }
}

impl ClientError {
    /// What can be done about it.
    pub fn remedy(&self) -> Option<&'static str> {
        let ClientError::Connect(_, error) = self else { return None };
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Some(
                "Does the program run? --control SOCKET names the one that is meant: penstock.ctl in its state folder.",
            ),
            ErrorKind::PermissionDenied => Some("Ask as root, or as the user the program runs as."),
            _ => None,
        }
    }

    /// The error, and on a line of its own what can be done about it.
    pub fn explained(&self) -> String {
        match self.remedy() {
            Some(remedy) => format!("{self}\n{remedy}"),
            None => self.to_string(),
        }
    }
}

/// The error as C programs print it, without Rust's number at the end.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}

/// How long an answer is waited for.
#[derive(Clone, Copy)]
struct Patience {
    /// Until then, and how long that was.
    until: Option<(Instant, Duration)>,
    /// Where there is no end: every so often the program shows in `answer_max` that it answers anything.
    every: Duration,
    answer_max: Duration,
}

impl Patience {
    fn new(limit: Option<Duration>) -> Patience {
        let until = limit.map(|limit| (Instant::now() + limit, limit));
        Patience { until, every: ANSWER_MAX, answer_max: ANSWER_MAX }
    }

    /// The longest time that a call may take now.
    fn left(self) -> Result<Duration, ClientError> {
        let Some((at, limit)) = self.until else { return Ok(self.every) };
        match at.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ClientError::TimedOut(limit)),
            left => Ok(left),
        }
    }

    fn is_over(self) -> ClientError {
        ClientError::TimedOut(self.until.map_or(self.every, |(_, limit)| limit))
    }

    fn classify(self, error: io::Error) -> ClientError {
        match error.kind() {
            _ if is_late(&error) => self.is_over(),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => ClientError::Closed,
            _ => ClientError::Io(error),
        }
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Sends `line` to the program behind the socket at `path` and waits for the whole reply: for the time given,
/// without one as long as the program answers anything, which is asked every [`ANSWER_MAX`].
pub fn request(path: &Path, line: &str, timeout: Option<Duration>) -> Result<Reply, ClientError> {
    exchange(path, line, Patience::new(timeout))
}

fn exchange(path: &Path, line: &str, patience: Patience) -> Result<Reply, ClientError> {
    let mut stream = connect(path, patience)?;
    // A line break inside would be two requests.
    let mut out: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    out.push('\n');
    stream.write_all(out.as_bytes()).map_err(|error| patience.classify(error))?;

    let mut reply = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        set_timeout(&stream, patience)?;
        let count = match stream.read(&mut chunk) {
            Ok(0) => return Err(ClientError::Closed),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if is_late(&error) && patience.until.is_none() => {
                exchange(path, QUICK, Patience::new(Some(patience.answer_max)))?;
                continue;
            }
            Err(error) => return Err(patience.classify(error)),
        };
        reply.extend_from_slice(chunk.get(..count).unwrap_or_default());
        if let Some(body) = body(&reply) {
            return Ok(split(&String::from_utf8_lossy(body)));
        }
        if reply.len() > REPLY_BYTES_MAX {
            return Err(ClientError::TooLong);
        }
    }
}

/// The process behind the socket at `path`; `None` where the kernel does not say.
pub fn process(path: &Path) -> Result<Option<i32>, ClientError> {
    let stream = connect(path, Patience::new(Some(PROCESS_MAX)))?;
    Ok(rustix::net::sockopt::socket_peercred(&stream).ok().map(|peer| peer.pid.as_raw_nonzero().get()))
}

/// What a command gets for a request: the text of the reply, or why there is none.
pub fn ask(path: &Path, line: &str, patience: Duration) -> Result<String, CommandError> {
    let reply = request(path, line, Some(patience))?;
    match reply.status {
        Status::Ok => Ok(reply.text),
        Status::Fail => Err(Refusal::Failed(reply.text).into()),
        Status::Retry => Err(Refusal::NotNow(reply.text).into()),
    }
}

/// The main file of the configuration that runs.
pub fn configuration_file(path: &Path) -> Result<PathBuf, CommandError> {
    let reply = request(path, "LISTFILES", Some(Duration::from_secs(15)))?;
    let first = reply.text.lines().next().map(PathBuf::from).filter(|file| file.is_absolute());
    first.ok_or_else(|| "the program does not say which configuration runs: name it with --config".into())
}

/// Connects. A program that is stuck takes nobody any more, and with enough in the queue the kernel makes
/// those who knock wait: no longer than the deadline.
fn connect(path: &Path, patience: Patience) -> Result<UnixStream, ClientError> {
    let failed = |errno: Errno| match errno {
        Errno::AGAIN => patience.is_over(),
        _ => ClientError::Connect(path.to_owned(), errno.into()),
    };
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(failed)?;
    let stream = UnixStream::from(socket);
    let begun = Instant::now();
    loop {
        // It bounds a connect too.
        set_timeout(&stream, patience)?;
        let connected = unix_path::connect(&stream, path);
        match connected.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
            Ok(()) => return Ok(stream),
            Err(Errno::INTR) => {}
            Err(Errno::CONNREFUSED) if begun.elapsed() < REFUSED_MAX => std::thread::sleep(KNOCK_PAUSE),
            Err(errno) => return Err(failed(errno)),
        }
    }
}

/// The reply before its closing line, once that has come. The program sends nothing after it.
fn body(reply: &[u8]) -> Option<&[u8]> {
    let body = reply.strip_suffix(b".\n")?;
    (body.is_empty() || body.ends_with(b"\n")).then_some(body)
}

fn split(text: &str) -> Reply {
    let words = [("OK", Status::Ok), ("FAIL", Status::Fail), ("RETRY", Status::Retry)];
    for (word, status) in words {
        let Some(rest) = text.strip_prefix(word) else { continue };
        if let Some(rest) = rest.strip_prefix(' ') {
            return Reply { status, text: rest.to_owned() };
        }
        if rest == "\n" {
            return Reply { status, text: String::new() };
        }
    }
    Reply { status: Status::Ok, text: text.to_owned() }
}

fn set_timeout(stream: &UnixStream, patience: Patience) -> Result<(), ClientError> {
    let left = patience.left()?;
    stream.set_read_timeout(Some(left)).map_err(ClientError::Io)?;
    stream.set_write_timeout(Some(left)).map_err(ClientError::Io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_with_a_line_of_one_dot() {
        let check = |reply: &str, expected: Option<&str>| {
            assert_eq!(body(reply.as_bytes()), expected.map(str::as_bytes), "{reply:?}");
        };
        check("OK x\n.\n", Some("OK x\n"));
        check(".\n", Some(""));
        check("OK x.\n", None);
        check("OK x\n.", None);
        check("", None);
    }

    #[test]
    fn the_status_word_is_taken_off() {
        let check = |text: &str, status, rest: &str| {
            assert_eq!(split(text), Reply { status, text: rest.into() });
        };
        check("OK done\n", Status::Ok, "done\n");
        check("OK\n", Status::Ok, "");
        check("FAIL no\nbecause\n", Status::Fail, "no\nbecause\n");
        check("RETRY later\n", Status::Retry, "later\n");
        check("OKAY\n", Status::Ok, "OKAY\n");
        check("a=1\n", Status::Ok, "a=1\n");
        check("", Status::Ok, "");
    }

    #[test]
    fn a_long_answer_is_waited_for_while_others_come() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("x.ctl");
        let listener = std::os::unix::net::UnixListener::bind(&path).expect("listener");
        let soon = Duration::from_millis(10);
        let ask =
            move |path: PathBuf| exchange(&path, "RELOAD", Patience { every: soon, ..Patience::new(None) });
        let asking = std::thread::spawn({
            let path = path.clone();
            move || ask(path)
        });
        let (mut long, _) = listener.accept().expect("the question");
        // It shows that it is alive as often as it is asked, then answers what was asked first.
        for _ in 0..3 {
            let (mut short, _) = listener.accept().expect("another question");
            // One that hangs up before it was asked is away.
            let _ = short.read(&mut [0; 64]).expect("read");
            short.write_all(b"OK here\n.\n").expect("write");
        }
        long.write_all(b"OK done\n.\n").expect("write");
        assert_eq!(asking.join().expect("no panic").expect("an answer").text, "done\n");
        // One that is stuck answers nothing.
        let patience = Patience { every: soon, answer_max: soon, ..Patience::new(None) };
        assert!(matches!(exchange(&path, "RELOAD", patience), Err(ClientError::TimedOut(_))));
    }

    #[test]
    fn connect_errors_read_as_they_always_did() {
        let error = request(Path::new("/nonexistent/x.ctl"), "STATS", None).expect_err("nothing listens");
        assert_eq!(
            error.to_string(),
            "Error connecting control socket, socket='/nonexistent/x.ctl', error='No such file or directory'"
        );
    }
}
