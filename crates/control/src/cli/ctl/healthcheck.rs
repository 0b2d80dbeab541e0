//! `ctl healthcheck`: asks until there is an answer, and says it with the exit code.

use super::show;
use crate::client::{ClientError, Status, request};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Pause before asking again a program that is reloading.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

pub fn ask(socket: &Path, timeout: Duration) -> ExitCode {
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
            Ok(reply) => return show(&reply),
            Err(error) => {
                stdio::err!("{}", error.explained());
                return ExitCode::from(2);
            }
        }
    }
}
