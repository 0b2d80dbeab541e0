//! A server: its listener, its thread, its end.

use crate::body::BodyRoom;
use crate::connection::{Shared, serve};
use crate::host::Hosts;
use crate::limits::Limits;
use crate::newcomers::Newcomers;
use crate::request::Handler;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tls::Acceptor;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// How long requests under way may go on when a server closes.
const LEAVE: Duration = Duration::from_secs(1);
/// Pause after a connection that could not be taken: there are no descriptors, most of the time.
const PAUSE: Duration = Duration::from_millis(100);
/// Threads beside the server's own, for what blocks. They end when they are idle.
const BLOCKING_MAX: usize = 4;

/// Where and how a server answers.
pub struct Settings {
    /// Of its thread, and in messages.
    pub name: String,
    pub listener: TcpListener,
    pub tls: Option<Arc<Acceptor>>,
    pub limits: Limits,
    pub hosts: Hosts,
}

/// A running server. Dropped, it takes no more connections at once, and ends by itself once the requests
/// under way are answered.
pub struct Server {
    listener: TcpListener,
    stop: watch::Sender<bool>,
    address: SocketAddr,
}

impl Server {
    /// Answers from a new thread.
    pub fn start(settings: Settings, handler: Arc<dyn Handler>) -> io::Result<Server> {
        let Settings { name, listener, tls, limits, hosts } = settings;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let own = listener.try_clone()?;
        let runtime =
            Builder::new_current_thread().max_blocking_threads(BLOCKING_MAX).enable_all().build()?;
        let room = BodyRoom::new(&limits);
        let newcomers = Arc::new(Newcomers::default());
        let shared = Arc::new(Shared { name: name.clone(), limits, hosts, tls, handler, room, newcomers });
        let (stop, stopped) = watch::channel(false);
        std::thread::Builder::new().name(name).spawn(move || run(&runtime, listener, shared, stopped))?;
        Ok(Server { listener: own, stop, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        // Not later, with the thread: somebody else may want the address now.
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
    }
}

fn run(runtime: &Runtime, listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    runtime.block_on(async {
        let permits = Arc::new(Semaphore::new(shared.limits.connections_max.max(1)));
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let stopping = stopped.clone();
        {
            let mut accepting = pin!(accept(&listener, &shared, &permits, &stopping));
            let mut stop = pin!(stopped.wait_for(|stops| *stops));
            poll_fn(|cx| match accepting.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => stop.as_mut().poll(cx).map(drop),
            })
            .await;
        }
        drop(listener);
        let all = u32::try_from(shared.limits.connections_max.max(1)).unwrap_or(u32::MAX);
        // Whoever has a connection has a permit.
        let _ = tokio::time::timeout(LEAVE, permits.acquire_many(all)).await;
    });
}

async fn accept(
    listener: &tokio::net::TcpListener,
    shared: &Arc<Shared>,
    permits: &Arc<Semaphore>,
    stopped: &watch::Receiver<bool>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, remote)) => {
                let Some(permit) = permitted(shared, permits).await else { return };
                // Known before the next one comes, for which it may have to go.
                let newcomer = shared.newcomers.enter();
                let (shared, stopped) = (Arc::clone(shared), stopped.clone());
                tokio::spawn(async move {
                    serve(shared, newcomer, stream, remote, stopped).await;
                    drop(permit);
                });
            }
            Err(_) if *stopped.borrow() => return,
            Err(error) => {
                let fields: [oplog::Field<'_>; 2] = [("server", &shared.name), ("error", &error)];
                oplog::limited("http-server", oplog::Level::Warning, "Cannot take a connection", &fields);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// A permit, for which the oldest connection that has asked nothing makes room. While one waits for it,
/// further ones wait in the kernel.
async fn permitted(shared: &Shared, permits: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    if let Ok(permit) = Arc::clone(permits).try_acquire_owned() {
        return Some(permit);
    }
    shared.newcomers.make_room();
    Arc::clone(permits).acquire_owned().await.ok()
}
