//! `ctl healthcheck`: asks until there is an answer, and says it with the exit code.
//!
//! `syslog-ng-ctl healthcheck` has always asked whether the program answers, and supervisors restart what
//! fails it: SC4S's container would be restarted because Splunk is away. So under that name complaints about
//! destinations, sources and disks are printed, and only silence fails.

use super::show;
use crate::client::{ClientError, Status, request};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Pause before asking again a program that is reloading.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// `is_for_engine`: complaints do not fail it.
pub fn ask(socket: &Path, timeout: Duration, is_for_engine: bool) -> ExitCode {
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let reply = if left.is_zero() {
            Err(ClientError::TimedOut(timeout))
        } else {
            request(socket, "HEALTHCHECK", Some(left))
        };
        match reply {
            Ok(reply) if reply.status == Status::Retry && left > RETRY_PAUSE => {
                std::thread::sleep(RETRY_PAUSE);
            }
            Ok(reply) => {
                let code = show(&reply);
                return if is_for_engine { ExitCode::SUCCESS } else { code };
            }
            Err(error) => {
                stdio::err!("{}", error.explained());
                return ExitCode::from(2);
            }
        }
    }
}
