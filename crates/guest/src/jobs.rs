//! The way in: what a guest is asked to do, one after the other.

use crate::answers::Answer;
use crate::runtime;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::sync::mpsc::Receiver;

/// A batch as the library takes it, and where its outcome goes.
pub struct Job<L> {
    pub load: L,
    pub answer: Answer,
}

pub enum Order<L> {
    Send(Job<L>),
    /// New connections for what comes next: SIGUSR1, or a reload that asks for it.
    Reopen,
}

/// What came while a guest has waited.
pub enum Waited<L> {
    Order(Order<L>),
    /// Nothing, in the time that it gave.
    Nothing,
    /// The line is closed: the guest has to end.
    Closed,
}

/// What is asked of a guest. Clones share it: each order goes to one of those who wait.
pub struct Jobs<L>(Arc<Mutex<Receiver<Order<L>>>>);

impl<L> Clone for Jobs<L> {
    fn clone(&self) -> Jobs<L> {
        Jobs(Arc::clone(&self.0))
    }
}

impl<L> Jobs<L> {
    pub(crate) fn new(receiver: Receiver<Order<L>>) -> Jobs<L> {
        Jobs(Arc::new(Mutex::new(receiver)))
    }

    /// The next order; `None` when the line is closed, which is when the guest has to end.
    pub async fn next(&self) -> Option<Order<L>> {
        self.0.lock().await.recv().await
    }

    /// The same, for a guest on a thread of its own ([`crate::on_a_thread`]): it waits.
    pub fn wait(&self) -> Option<Order<L>> {
        runtime::handle().ok()?.block_on(self.next())
    }

    /// The same, for one that has something else to do after so long.
    pub fn wait_within(&self, most: Duration) -> Waited<L> {
        let Ok(runtime) = runtime::handle() else { return Waited::Closed };
        match runtime.block_on(async { tokio::time::timeout(most, self.next()).await }) {
            Ok(Some(order)) => Waited::Order(order),
            Ok(None) => Waited::Closed,
            Err(_) => Waited::Nothing,
        }
    }

    /// Nobody will ask anything any more. Not known while somebody waits for the next order.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.try_lock().is_ok_and(|receiver| receiver.is_closed())
    }
}
