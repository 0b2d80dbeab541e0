//! The console of the running program: opened where command line and configuration say, and again when a
//! reload says something else.

use crate::program::Daemon;
use crate::subject::Served;
use diag::Fault;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use web_console::{Console, Options};

/// The process whose place this one takes may still have the address for so long.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// What is open.
#[derive(Default)]
pub struct Door {
    /// `--console`.
    asked: Option<SocketAddr>,
    /// None before the program serves, and after its end.
    program: Mutex<Weak<Daemon>>,
    open: Mutex<Option<Console>>,
}

impl Door {
    pub fn new(asked: Option<SocketAddr>) -> Door {
        Door { asked, ..Door::default() }
    }

    /// The command line says where, the configuration everything else.
    fn wanted(&self, configured: Option<&Options>) -> Option<Options> {
        let configured = configured.cloned();
        match self.asked {
            None => configured,
            Some(address) => Some(Options { address, ..configured.unwrap_or_else(|| Options::at(address)) }),
        }
    }

    /// Opens what is wanted for the first time.
    pub fn begin(&self, program: &Arc<Daemon>, configured: Option<&Options>) -> Result<(), Fault> {
        *self.program.lock() = Arc::downgrade(program);
        let Some(options) = self.wanted(configured) else { return Ok(()) };
        *self.open.lock() = Some(started(program, options)?);
        Ok(())
    }

    /// The same, from a thread of its own, as soon as another process has left the address.
    pub fn begin_later(program: &Arc<Daemon>, configured: Option<&Options>) {
        let (program, configured) = (Arc::clone(program), configured.cloned());
        let begin = move || {
            let until = Instant::now() + PATIENCE;
            while let Err(error) = program.door.begin(&program, configured.as_ref()) {
                if Instant::now() >= until || program.is_given() {
                    return oplog::error("The console stays closed", &[("error", &error)]);
                }
                std::thread::park_timeout(LOOK);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("console-open".to_owned()).spawn(begin) {
            oplog::error("The console stays closed", &[("error", &error)]);
        }
    }

    /// Another configuration is in effect. What cannot be opened is said; what was open stays then, where
    /// it can.
    pub fn replace(&self, configured: Option<&Options>) {
        let Some(program) = self.program.lock().upgrade() else { return };
        let wanted = self.wanted(configured);
        let mut open = self.open.lock();
        let before = open.as_ref().map(|open| open.options().clone());
        if wanted == before {
            // Read again they serve the connections that come; what is wrong with them is said there.
            let _ = wanted.and_then(|options| options.tls).map(|tls| tls::Acceptor::load(&tls));
            return;
        }
        // The address may be the same.
        *open = None;
        let Some(options) = wanted else { return };
        match started(&program, options) {
            Ok(console) => *open = Some(console),
            Err(error) => {
                oplog::error("The console cannot be opened anew", &[("error", &error)]);
                *open = before.and_then(|options| started(&program, options).ok());
            }
        }
    }

    pub fn close(&self) {
        *self.program.lock() = Weak::new();
        *self.open.lock() = None;
    }
}

fn started(program: &Arc<Daemon>, options: Options) -> Result<Console, Fault> {
    Console::start(options, Arc::new(Served::new(Arc::clone(program))))
}
