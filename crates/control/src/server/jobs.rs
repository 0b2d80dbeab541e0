//! Who computes the replies: the control thread for quick ones, a thread of its own for each slow one.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::answer::answer;
use crate::asker::Asker;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::subject::{ConfigView, Subject};

/// A reply computed elsewhere and whose it is.
pub struct Done {
    pub token: u64,
    pub text: String,
}

pub struct Jobs {
    subject: Arc<dyn Subject>,
    reloading: Arc<AtomicBool>,
    sender: Sender<Done>,
    receiver: Receiver<Done>,
    wake: UnixStream,
}

/// What a request needs.
pub enum Outcome {
    Now(String),
    /// The reply comes through [`Jobs::take`]. To be told when the client is gone.
    Later(Asker),
}

impl Jobs {
    pub fn new(subject: Arc<dyn Subject>, wake: UnixStream) -> Self {
        let (sender, receiver) = channel();
        Jobs { subject, reloading: Arc::default(), sender, receiver, wake }
    }

    /// One request is under way per connection, so the number of threads is bounded by that of connections.
    pub fn start(&self, token: u64, request: Request) -> Outcome {
        match request {
            Request::Reload(_) if self.reloading.swap(true, Ordering::SeqCst) => {
                Outcome::Now(Refusal::from("a reload is already under way").reply())
            }
            Request::Health if self.reloading.load(Ordering::SeqCst) => {
                Outcome::Now(Refusal::NotNow("the configuration is being reloaded".into()).reply())
            }
            Request::Reload(_)
            | Request::RollBack
            | Request::Health
            | Request::Queue(_)
            | Request::Explain(_)
            | Request::Look(_)
            | Request::Capture(_)
            | Request::Profile(_)
            | Request::Replay(_)
            | Request::Config(ConfigView::Verify | ConfigView::Difference) => self.spawn(token, request),
            request => Outcome::Now(contained(&request, &*self.subject)),
        }
    }

    /// Replies that are ready.
    pub fn take(&self) -> Option<Done> {
        self.receiver.try_recv().ok()
    }

    /// The client goes, its connection stays with whoever speaks on it.
    pub fn give_away(&self, stream: UnixStream, linger: Duration) {
        let subject = Arc::clone(&self.subject);
        let started = stream.set_nonblocking(false).and_then(|()| {
            std::thread::Builder::new().name("take-over".into()).spawn(move || {
                if catch_unwind(AssertUnwindSafe(|| subject.take_over(stream, linger))).is_err() {
                    oplog::critical("Internal error while another process takes over, contained", &[]);
                }
            })
        });
        if let Err(error) = started {
            oplog::error("Cannot start the thread that hands over", &[("error", &error)]);
        }
    }

    fn spawn(&self, token: u64, request: Request) -> Outcome {
        let (subject, sender) = (Arc::clone(&self.subject), self.sender.clone());
        let reloading = Arc::clone(&self.reloading);
        let is_reload = matches!(request, Request::Reload(_));
        let asker = Asker::default();
        let served = asker.clone();
        let started = self.wake.try_clone().and_then(|mut wake| {
            std::thread::Builder::new().name("control-job".into()).spawn(move || {
                served.serve_here();
                let text = contained(&request, &*subject);
                if is_reload {
                    reloading.store(false, Ordering::SeqCst);
                }
                // Nobody waits any more when the server has ended; a full wake socket wakes it anyway.
                let _ = sender.send(Done { token, text });
                let _ = wake.write(&[1]);
            })
        });
        match started {
            Ok(_) => Outcome::Later(asker),
            Err(error) => {
                if is_reload {
                    self.reloading.store(false, Ordering::SeqCst);
                }
                Outcome::Now(Refusal::Failed(format!("no thread for this command: {error}")).reply())
            }
        }
    }
}

/// A defect in an answer costs that answer, not the socket.
fn contained(request: &Request, subject: &dyn Subject) -> String {
    let answer = catch_unwind(AssertUnwindSafe(|| answer(request, subject))).unwrap_or_else(|_| {
        oplog::error("Control command failed by a defect of the program", &[]);
        Refusal::from("internal error, see the log of the program").reply()
    });
    oplog::hidden(&answer).into_owned()
}
