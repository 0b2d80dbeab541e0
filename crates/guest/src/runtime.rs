//! The one runtime of all guests, and what keeps a guest running.

use crate::jobs::Jobs;
use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

/// Threads that run futures.
pub const THREADS: usize = 2;
/// The most threads beside them, for calls that block: names looked up, files, libraries without futures.
/// They end when they are idle.
pub const BLOCKING_MAX: usize = 16;
const IDLE: Duration = Duration::from_secs(10);
/// A guest that ended although nobody asked it to begins again after this time.
const RESTART: Duration = Duration::from_secs(1);

static RUNTIME: parking_lot::Mutex<Option<Runtime>> = parking_lot::Mutex::new(None);

/// The runtime, which the first guest starts. The error says why there can be none: no more threads, say.
/// Asked again, it tries again.
pub fn handle() -> io::Result<Handle> {
    let mut runtime = RUNTIME.lock();
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    let made = build()?;
    let handle = made.handle().clone();
    *runtime = Some(made);
    Ok(handle)
}

fn build() -> io::Result<Runtime> {
    let count = AtomicUsize::new(0);
    Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(BLOCKING_MAX)
        .thread_keep_alive(IDLE)
        .thread_name_fn(move || format!("guest-{}", count.fetch_add(1, Ordering::Relaxed)))
        .enable_all()
        .build()
}

/// A guest that waits for long, on a thread that is only its own: those of the runtime are few. It ends with
/// the work; when it cannot be started, at once.
pub async fn on_a_thread(name: &str, work: impl FnOnce() + Send + 'static) {
    let (done, ended) = tokio::sync::oneshot::channel();
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        work();
        // Nobody waits when the line was closed long ago.
        let _ = done.send(());
    });
    if started.is_ok() {
        let _ = ended.await;
    }
}

/// Runs a guest until its line is closed. One that panics, or just ends, is begun anew: what it had is
/// answered as unknown, and what waits in the channel is for its successor.
pub(crate) async fn keep<L, F, R>(name: String, jobs: Jobs<L>, serve: F)
where
    F: Fn(Jobs<L>) -> R,
    R: Future<Output = ()> + Send + 'static,
{
    // A set of one: when this future is dropped, so is the guest.
    let mut guest = JoinSet::new();
    while !jobs.is_closed() {
        guest.spawn(serve(jobs.clone()));
        let ended = guest.join_next().await;
        if jobs.is_closed() {
            return;
        }
        let error = match ended {
            Some(Err(error)) if error.is_panic() => "it panicked",
            _ => "it ended",
        };
        oplog::error("Client library begins anew", &[("location", &name), ("error", &error)]);
        tokio::time::sleep(RESTART).await;
    }
}
