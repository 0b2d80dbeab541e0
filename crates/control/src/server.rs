//! The control socket: a unix stream socket on which the running program answers one line at a time.
//!
//! One thread, poll-based. A client can cost itself its connection and nothing else: lines and connections
//! are bounded, a new client pushes out the one that has been silent longest, and requests that take their
//! time run on a thread of their own.

mod bind;
mod conn;
mod jobs;
mod run;

use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::subject::Subject;

pub use conn::LINE_BYTES_MAX;

/// Clients at one time.
pub const CONNECTIONS_COUNT_MAX: usize = 64;

/// Where and how to listen.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub path: PathBuf,
    /// Permissions of the socket file.
    pub mode: u32,
    pub connections_count_max: usize,
    /// Another program that answers on this path is to be replaced, by [`Server::replace`].
    pub replaces: bool,
}

impl ServerOptions {
    /// Owner only, the usual number of clients.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        ServerOptions {
            path: path.into(),
            mode: 0o600,
            connections_count_max: CONNECTIONS_COUNT_MAX,
            replaces: false,
        }
    }
}

/// Why there is no control socket.
#[derive(Debug)]
pub enum ServerError {
    /// Another program answers on this path.
    InUse(PathBuf),
    /// Something that is not a socket stands there.
    NotASocket(PathBuf),
    Io(&'static str, PathBuf, io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::InUse(path) => write!(
                f,
                "another instance answers on the control socket {}: stop it or give another path with --control",
                path.display()
            ),
            ServerError::NotASocket(path) => {
                write!(
                    f,
                    "{} exists and is not a socket: remove it or give another path with --control",
                    path.display()
                )
            }
            ServerError::Io(what, path, error) => {
                write!(f, "cannot {what} the control socket {}: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for ServerError {}

/// The running server. Dropping it flushes what clients are owed, closes the socket and removes its file.
pub struct Server {
    path: PathBuf,
    /// Closing it ends the thread.
    wake: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
    identity: bind::Identity,
}

impl Server {
    /// Listens and answers from a new thread.
    pub fn start(options: ServerOptions, subject: Arc<dyn Subject>) -> Result<Server, ServerError> {
        let path = options.path.clone();
        let failed = |what| {
            let path = path.clone();
            move |error| ServerError::Io(what, path, error)
        };
        let (listener, identity) = bind::bind(&options)?;
        let (wake, woken) = UnixStream::pair().map_err(failed("set up"))?;
        let jobs_wake = wake.try_clone().map_err(failed("set up"))?;
        for stream in [&wake, &woken] {
            stream.set_nonblocking(true).map_err(failed("set up"))?;
        }
        let jobs = jobs::Jobs::new(subject, jobs_wake);
        let mut work = run::Run::new(listener, woken, jobs, options.connections_count_max.max(1));
        let thread = std::thread::Builder::new()
            .name("control".into())
            .spawn(move || work.run())
            .map_err(failed("start the thread of"))?;
        Ok(Server { path, wake: Some(wake), thread: Some(thread), identity })
    }

    /// Takes the place of the program that answered before. Its clients of this moment keep it.
    pub fn replace(&self) -> Result<(), ServerError> {
        let failed = |error| ServerError::Io("replace", self.path.clone(), error);
        std::fs::rename(bind::beside(&self.path), &self.path).map_err(failed)
    }

    /// Another program replaces it, at any moment: the file under the path is that one's to remove.
    pub fn give_up_path(&mut self) {
        self.identity = None;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Jobs hold a clone of this end, so the thread is told with a shutdown, not only a close.
        if let Some(wake) = self.wake.take() {
            let _ = wake.shutdown(std::net::Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        bind::unlink(&self.path, self.identity);
        // One that was to replace another and did not.
        bind::unlink(&bind::beside(&self.path), self.identity);
    }
}

#[cfg(test)]
mod tests;
