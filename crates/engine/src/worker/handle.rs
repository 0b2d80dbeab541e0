//! How other threads reach a worker: a mailbox, a waker, and registration with its readiness loop.

use super::parting::Parting;
use super::port::{Port, PortContext};
use crate::friction;
use crate::outlet::Outlet;
use crate::window::Wake;
use mio::{Poll, Registry, Token, Waker};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Weak};
use std::time::Instant;

pub(super) const WAKER: Token = Token(usize::MAX);
/// Contexts that waited for room may go on.
pub(super) const CONTEXTS: Token = Token(usize::MAX - 1);
/// Tokens from here on belong to outlets, by id.
pub(super) const OUTLET_BASE: usize = 1 << 40;

/// Makes a port in its worker's thread.
pub type MakePort = Box<dyn FnOnce(Token, &PortContext) -> std::io::Result<Box<dyn Port>> + Send>;

type Visit = Box<dyn FnMut(&mut dyn Port) -> bool + Send>;

pub(super) type Errand = Box<dyn FnOnce(&mut PortContext) + Send>;

pub(super) enum Command {
    Add(MakePort),
    Ready(Token),
    PumpAt(Instant, Weak<Outlet>),
    /// Visits every port; those for which it says `true` are closed.
    Each(Visit),
    /// Every port gives away what it can.
    Part(Arc<Parting>),
    Run(Errand),
    /// Everything read so far has been handed over when the sender is dropped.
    Barrier(SyncSender<()>),
    Stop,
}

struct Inner {
    index: usize,
    registry: Registry,
    waker: Waker,
    mailbox: Mutex<Vec<Command>>,
    /// There is something in the mailbox.
    has_mail: AtomicBool,
    /// The worker waits, and has to be woken for its mail.
    waits: AtomicBool,
    outlets: RwLock<HashMap<u32, Arc<Outlet>>>,
}

#[derive(Clone)]
pub struct WorkerHandle(Arc<Inner>);

impl WorkerHandle {
    pub(super) fn new(index: usize, poll: &Poll) -> std::io::Result<WorkerHandle> {
        Ok(WorkerHandle(Arc::new(Inner {
            index,
            registry: poll.registry().try_clone()?,
            waker: Waker::new(poll.registry(), WAKER)?,
            mailbox: Mutex::default(),
            has_mail: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            outlets: RwLock::default(),
        })))
    }

    pub fn index(&self) -> usize {
        self.0.index
    }

    pub fn wake(&self) {
        friction::woken();
        // A failure means that the counter is at its top: the worker is being woken anyway.
        let _ = self.0.waker.wake();
    }

    fn send(&self, command: Command) {
        self.send_all(std::iter::once(command));
    }

    /// A worker that is awake looks into its mailbox before it waits; one that waits is woken once.
    fn send_all(&self, commands: impl Iterator<Item = Command>) {
        friction::lock(&self.0.mailbox).extend(commands);
        self.0.has_mail.store(true, Ordering::SeqCst);
        if self.0.waits.load(Ordering::SeqCst) && self.0.waits.swap(false, Ordering::SeqCst) {
            self.wake();
        }
    }

    pub(super) fn commands(&self) -> Vec<Command> {
        // What comes after this look is seen by the next one.
        match self.0.has_mail.load(Ordering::SeqCst) && self.0.has_mail.swap(false, Ordering::SeqCst) {
            true => std::mem::take(&mut *friction::lock(&self.0.mailbox)),
            false => Vec::new(),
        }
    }

    /// The worker is about to wait, and has to be woken from now on. Whether there is mail already.
    pub(super) fn begin_to_wait(&self) -> bool {
        self.0.waits.store(true, Ordering::SeqCst);
        self.0.has_mail.load(Ordering::SeqCst)
    }

    pub(super) fn end_to_wait(&self) {
        self.0.waits.store(false, Ordering::SeqCst);
    }

    /// Adds a port; `make` registers its descriptor under the token.
    pub fn add(
        &self,
        make: impl FnOnce(Token, &PortContext) -> std::io::Result<Box<dyn Port>> + Send + 'static,
    ) {
        self.send(Command::Add(Box::new(make)));
    }

    /// The same for many ports, which begin in their order.
    pub fn add_all(&self, makes: impl Iterator<Item = MakePort>) {
        self.send_all(makes.map(Command::Add));
    }

    /// Visits every port in its own thread; those for which `visit` says `true` are closed.
    pub fn each(&self, visit: impl FnMut(&mut dyn Port) -> bool + Send + 'static) {
        self.send(Command::Each(Box::new(visit)));
    }

    pub(crate) fn part(&self, parting: &Arc<Parting>) {
        self.send(Command::Part(Arc::clone(parting)));
    }

    /// Does something in its thread, between two batches.
    pub(crate) fn run(&self, errand: impl FnOnce(&mut PortContext) + Send + 'static) {
        self.send(Command::Run(Box::new(errand)));
    }

    pub fn barrier(&self, done: SyncSender<()>) {
        self.send(Command::Barrier(done));
    }

    pub fn stop(&self) {
        self.send(Command::Stop);
    }

    /// Something that gives the port under `token` a turn.
    pub fn waker(&self, token: Token) -> Arc<dyn Wake> {
        struct Turn(WorkerHandle, Token);
        impl Wake for Turn {
            fn wake(&self) {
                self.0.send(Command::Ready(self.1));
            }
        }
        Arc::new(Turn(self.clone(), token))
    }

    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// The token under which an outlet's sink registers its descriptor.
    pub fn outlet_token(id: u32) -> Token {
        Token(OUTLET_BASE + id as usize)
    }

    pub(crate) fn pump_at(&self, at: Instant, outlet: &Arc<Outlet>) {
        self.send(Command::PumpAt(at, Arc::downgrade(outlet)));
    }

    pub(crate) fn adopt(&self, outlet: &Arc<Outlet>) {
        self.0.outlets.write().insert(outlet.id, Arc::clone(outlet));
    }

    pub(crate) fn release(&self, id: u32) {
        self.0.outlets.write().remove(&id);
    }

    pub(super) fn outlet(&self, id: u32) -> Option<Arc<Outlet>> {
        self.0.outlets.read().get(&id).cloned()
    }

    pub fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.0.outlets.read().values().cloned().collect()
    }
}
