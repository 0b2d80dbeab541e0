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
    fn remedy(&self) -> Option<&'static str> {
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

/// Sends `line` to the program behind the socket at `path` and waits for the whole reply, with `timeout` for
/// ever.
pub fn request(path: &Path, line: &str, timeout: Option<Duration>) -> Result<Reply, ClientError> {
    let deadline = timeout.map(|limit| (Instant::now() + limit, limit));
    let mut stream = connect(path, deadline)?;
    // A line break inside would be two requests.
    let mut out: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    out.push('\n');
    stream.write_all(out.as_bytes()).map_err(|error| classify(error, deadline))?;

    let mut reply = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        set_timeout(&stream, deadline)?;
        let count = match stream.read(&mut chunk) {
            Ok(0) => return Err(ClientError::Closed),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(classify(error, deadline)),
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
    let limit = Duration::from_secs(5);
    let stream = connect(path, Some((Instant::now() + limit, limit)))?;
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
fn connect(path: &Path, deadline: Option<(Instant, Duration)>) -> Result<UnixStream, ClientError> {
    let failed = |errno: Errno| match (errno, deadline) {
        (Errno::AGAIN, Some((_, limit))) => ClientError::TimedOut(limit),
        _ => ClientError::Connect(path.to_owned(), errno.into()),
    };
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(failed)?;
    let stream = UnixStream::from(socket);
    let begun = Instant::now();
    loop {
        // It bounds a connect too.
        set_timeout(&stream, deadline)?;
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

fn set_timeout(stream: &UnixStream, deadline: Option<(Instant, Duration)>) -> Result<(), ClientError> {
    let Some((at, limit)) = deadline else { return Ok(()) };
    let left = at.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ClientError::TimedOut(limit));
    }
    stream.set_read_timeout(Some(left)).map_err(ClientError::Io)?;
    stream.set_write_timeout(Some(left)).map_err(ClientError::Io)
}

fn classify(error: io::Error, deadline: Option<(Instant, Duration)>) -> ClientError {
    match (error.kind(), deadline) {
        (ErrorKind::WouldBlock | ErrorKind::TimedOut, Some((_, limit))) => ClientError::TimedOut(limit),
        (ErrorKind::ConnectionReset | ErrorKind::BrokenPipe, _) => ClientError::Closed,
        _ => ClientError::Io(error),
    }
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
    fn connect_errors_read_as_they_always_did() {
        let error = request(Path::new("/nonexistent/x.ctl"), "STATS", None).expect_err("nothing listens");
        assert_eq!(
            error.to_string(),
            "Error connecting control socket, socket='/nonexistent/x.ctl', error='No such file or directory'"
        );
    }
}
