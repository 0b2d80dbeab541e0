//! Time and tasks, as hyper wants them from whoever runs it.

use hyper::rt::{Executor, Sleep, Timer};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// What a connection does beside its requests.
#[derive(Clone, Copy)]
pub struct Tasks;

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        tokio::spawn(future);
    }
}

#[derive(Clone, Copy)]
pub struct Clock;

struct Nap(Pin<Box<tokio::time::Sleep>>);

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Sleep for Nap {}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Nap(Box::pin(tokio::time::sleep(duration))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Nap(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}
