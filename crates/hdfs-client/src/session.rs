//! What runs for one outlet, that is for one name of files: it takes batches one after the other, puts each
//! into the file, and says what became of it.

use crate::batch::Load;
use crate::cluster::Cluster;
use crate::file::{self, Open};
use crate::judge::Trouble;
use crate::landed::Unsure;
use crate::name::numbered;
use flight::{Outcome, Verdict};
use guest::{Jobs, Order};
use std::sync::Arc;
use std::time::Duration;

/// Serves an outlet until it is closed. `name`: of its files, see [`crate::readable`].
pub async fn serve(cluster: Arc<Cluster>, name: Arc<str>, jobs: Jobs<Load>) {
    let mut session = Session { cluster, name, file: None, unsure: None, number: None, put: None };
    while let Some(next) = session.next(&jobs).await {
        match next {
            Next::Order(Order::Send(job)) => {
                session.put = None;
                let outcome = session.deliver(&job.load).await;
                session.say_where(&job.load, &job.answer);
                job.answer.say(outcome);
            }
            Next::Order(Order::Reopen) => {
                session.finish().await;
                session.cluster.forget().await;
            }
            Next::Idle => session.finish().await,
        }
    }
    session.finish().await;
}

enum Next {
    Order(Order<Load>),
    /// Nothing has come for time-reap().
    Idle,
}

struct Landed {
    length: u64,
    /// How many of the first bytes of a batch.
    there: usize,
}

struct Session {
    cluster: Arc<Cluster>,
    name: Arc<str>,
    file: Option<Open>,
    /// A file that was cut off, and has more than is acknowledged, or not.
    unsure: Option<Unsure>,
    /// Of the next new file; none before the first, for which the cluster is asked.
    number: Option<u64>,
    /// Where the batch in hand is: the file, and where the batch begins in it.
    put: Option<(String, u64)>,
}

impl Session {
    /// `None` when the line is closed.
    async fn next(&self, jobs: &Jobs<Load>) -> Option<Next> {
        match (self.cluster.plan.reap, &self.file) {
            (Some(reap), Some(_)) => match tokio::time::timeout(reap, jobs.next()).await {
                Ok(order) => order.map(Next::Order),
                Err(_) => Some(Next::Idle),
            },
            _ => jobs.next().await.map(Next::Order),
        }
    }

    /// Where messages are that somebody follows.
    fn say_where(&self, load: &Load, answer: &guest::Answer) {
        let Some((path, begin)) = &self.put else { return };
        answer.is_at(|at| {
            let before = at.checked_sub(1).and_then(|last| load.ends.get(last)).copied().unwrap_or(0);
            [("path", path.as_str().into()), ("offset", (begin + before as u64).into())]
        });
    }

    async fn deliver(&mut self, load: &Load) -> Outcome {
        match self.put(load).await {
            Ok(outcome) => outcome,
            Err(trouble) => trouble.outcome(),
        }
    }

    async fn put(&mut self, load: &Load) -> Result<Outcome, Trouble> {
        let Landed { length, there } = self.landed(load).await?;
        if there == load.body.len() {
            self.put = self.unsure.as_ref().map(|cut| (cut.path.clone(), cut.synced));
            let cut = self.unsure.take().map(|cut| (cut.path.clone(), cut.after(there)));
            match cut {
                Some((path, None)) if !self.cluster.plan.appends => self.leave(&path, length).await,
                Some((_, rest)) => self.unsure = rest,
                None => {}
            }
            return Ok(Outcome::Delivered);
        }
        let from = match (self.cluster.plan.appends, self.unsure.take()) {
            (true, kept) => {
                // Until the file is open again, this is all that is known of it.
                self.unsure = kept;
                there
            }
            (false, Some(cut)) => {
                self.leave(&cut.path, length).await;
                let whole = load.whole_within(there);
                if whole > 0 {
                    let verdicts = vec![Verdict::Delivered; whole];
                    return Ok(Outcome::Judged { verdicts, after: Some(Duration::ZERO) });
                }
                0
            }
            (false, None) => 0,
        };
        let mut open = self.open().await?;
        match open.put(&self.cluster, load, from).await {
            Ok(()) => {
                self.unsure = None;
                // What of it was there already stands in front.
                let begin = open.synced().saturating_sub(load.body.len() as u64);
                self.put = Some((open.path.clone(), begin));
                self.file = Some(open);
                Ok(Outcome::Delivered)
            }
            Err(trouble) => {
                self.unsure = Some(open.cut_off(load, from));
                Err(trouble)
            }
        }
    }

    /// What is in the file that was cut off.
    async fn landed(&self, load: &Load) -> Result<Landed, Trouble> {
        let Some(unsure) = &self.unsure else { return Ok(Landed { length: 0, there: 0 }) };
        let length = self.cluster.settled_length(&unsure.path).await?.unwrap_or(0);
        Ok(Landed { length, there: unsure.has(load, length) })
    }

    /// A file that was cut off ends in the middle of a batch, perhaps of a message: the rest goes into the
    /// next one. One in which nothing is was made while there was no datanode.
    async fn leave(&mut self, path: &str, length: u64) {
        if length > 0 {
            return file::archive(&self.cluster, path).await;
        }
        if file::remove(&self.cluster, path).await {
            self.number = self.number.and_then(|number| number.checked_sub(1));
        }
    }

    async fn open(&mut self) -> Result<Open, Trouble> {
        if let Some(open) = self.file.take() {
            return Ok(open);
        }
        if self.cluster.plan.appends {
            let path = numbered(&self.name, 0, self.cluster.plan.name_bytes_max);
            return Open::append(&self.cluster, &path).await;
        }
        let (open, number) = Open::create(&self.cluster, &self.name, self.number).await?;
        self.number = Some(number + 1);
        Ok(open)
    }

    /// Closes the file, and moves it to the archive.
    async fn finish(&mut self) {
        let Some(open) = self.file.take() else { return };
        if let Some(path) = open.close(&self.cluster).await {
            file::archive(&self.cluster, &path).await;
        }
    }
}
