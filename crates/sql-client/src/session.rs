//! What runs for one outlet: it takes batches one after the other, puts each into its tables in one
//! transaction, and says what became of it.

mod careful;

use crate::account::{Account, are_there};
use crate::batch::{Group, Load, groups};
use crate::cursor::Cursor;
use crate::followed::Followed;
use crate::not_done::NotDone;
use crate::offsets::Offsets;
use crate::plan::Plan;
use crate::schema;
use crate::server::Server;
use crate::shape::{Id, Shape, Shapes};
use flight::{Outcome, Verdict};
use guest::{Jobs, Order};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Tables that are known to be there. Messages may name any number of them: beyond this they are looked at
/// again.
const TABLES_MAX: usize = 4096;

/// Where the server keeps how far it is, if it does.
#[derive(Clone)]
pub enum HowFar {
    Nowhere,
    /// Its position in the queue on disk.
    Queue(Arc<Cursor>),
    /// What the sequences have reached that messages come from.
    Offsets(Arc<Offsets>),
}

/// Serves an outlet until it is closed. `shapes` knows rows that were made for another configuration.
pub async fn serve<S: Server>(plan: Arc<Plan>, shapes: Shapes, kept: HowFar, server: S, jobs: Jobs<Load>) {
    let own = (Shape::of(&plan).id(), Arc::clone(&plan));
    let (tables, reached, followed) = (HashSet::new(), Vec::new(), Followed::default());
    let mut session = Session { own, shapes, plan, kept, server, tables, position: 0, reached, followed };
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => session.leave(),
            Order::Send(job) => {
                session.followed = Followed::new(job.answer.followed());
                let outcome = session.deliver(job.load).await;
                session.say_where(&job.answer);
                job.answer.say(outcome);
            }
        }
    }
}

struct Session<S> {
    /// Of the configuration that holds, and the id of its rows.
    own: (Id, Arc<Plan>),
    shapes: Shapes,
    /// Of the rows in hand.
    plan: Arc<Plan>,
    kept: HowFar,
    server: S,
    /// With a cursor: messages with numbers before it are in their tables.
    position: u64,
    /// With offsets: what the sequences of the batch in hand have reached when it is in its tables.
    reached: Vec<u64>,
    /// Those that were looked at on this connection.
    tables: HashSet<String>,
    /// Messages of the batch in hand.
    followed: Followed,
}

impl<S: Server> Session<S> {
    /// Where messages are that somebody follows.
    fn say_where(&self, answer: &guest::Answer) {
        let (whereabouts, followed) = (self.server.whereabouts(), &self.followed);
        answer.is_at(|at| {
            followed.place(at).map(|place| whereabouts.clone().into_iter().chain(place)).into_iter().flatten()
        });
    }

    fn leave(&mut self) {
        self.server.close();
        self.tables.clear();
    }

    async fn deliver(&mut self, load: Load) -> Outcome {
        let all = load.ends.len();
        let (load, made_for) = load.first();
        let messages = load.ends.len();
        let outcome = match self.plan_of(made_for) {
            Some(plan) => {
                if !Arc::ptr_eq(&plan, &self.plan) {
                    self.tables.clear();
                    self.plan = plan;
                }
                self.deliver_alike(&load).await
            }
            None => {
                let why = "it was made for columns of another configuration, and nobody knows which";
                let verdicts = vec![Verdict::Refused(why.into()); messages];
                Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
            }
        };
        match outcome {
            // Those behind them go next.
            Outcome::Delivered if messages < all => {
                Outcome::Judged { verdicts: vec![Verdict::Delivered; messages], after: Some(Duration::ZERO) }
            }
            outcome => outcome,
        }
    }

    /// How rows are put that were made for this.
    fn plan_of(&self, made_for: Option<Id>) -> Option<Arc<Plan>> {
        let (own, plan) = &self.own;
        match made_for.filter(|id| id != own) {
            None => Some(Arc::clone(plan)),
            Some(id) => Some(Arc::new((self.shapes)(&id)?.plan(plan))),
        }
    }

    async fn deliver_alike(&mut self, load: &Load) -> Outcome {
        let mut result = self.attempt(load).await;
        if let Err((NotDone::Away(_), true)) = result {
            // The server has ended a connection that was kept; nothing was taken.
            result = self.attempt(load).await;
        }
        result.unwrap_or_else(|(fault, _)| fault.outcome())
    }

    /// What becomes of a batch. An error also says whether it came on a connection that was kept.
    async fn attempt(&mut self, load: &Load) -> Result<Outcome, (NotDone, bool)> {
        let was_open = self.server.is_open();
        let result = self.put(load).await;
        result.map_err(|fault| {
            match fault {
                NotDone::Away(_) | NotDone::Unknown(_) | NotDone::Busy(_) => self.leave(),
                // A table may be gone.
                _ => self.tables.clear(),
            }
            (fault, was_open)
        })
    }

    /// A connection that is ready for rows.
    async fn open(&mut self) -> Result<(), NotDone> {
        self.tables.clear();
        self.server.open().await?;
        let begun = self.begin().await;
        if begun.is_err() {
            self.leave();
        }
        begun
    }

    async fn begin(&mut self) -> Result<(), NotDone> {
        for statement in &self.plan.session_statements {
            self.server.execute(statement).await.map_err(|fault| by_configuration(fault, statement))?;
        }
        self.server.ready().await?;
        match &self.kept {
            HowFar::Nowhere => {}
            HowFar::Queue(cursor) => self.position = cursor.open(&mut self.server).await?,
            HowFar::Offsets(offsets) => offsets.open(&mut self.server).await?,
        }
        Ok(())
    }

    async fn put(&mut self, load: &Load) -> Result<Outcome, NotDone> {
        if !self.server.is_open() {
            self.open().await?;
        }
        let messages = load.ends.len();
        let there = if matches!(self.kept, HowFar::Queue(_)) { load.before(self.position) } else { 0 };
        if there > 0 {
            // What comes again is there already; what is behind it goes next.
            return Ok(Outcome::Judged {
                verdicts: vec![Verdict::Delivered; there],
                after: Some(Duration::ZERO),
            });
        }
        let groups = &groups(&self.plan, load);
        let mut impossible = Vec::new();
        for group in groups {
            match self.prepare(&group.table).await {
                // The message has named it, and others name other tables.
                Err(NotDone::Table(why)) if self.plan.table.is_none() => impossible.push((&group.table, why)),
                other => other?,
            }
        }
        if impossible.is_empty() {
            match self.put_at_once(groups, load).await {
                Ok(there) if there.is_empty() => return Ok(Outcome::Delivered),
                Ok(there) => return Ok(are_there(&there, vec![Verdict::Again; messages])),
                Err(NotDone::Row { .. } | NotDone::Rows(_) | NotDone::Table(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        let mut account = Account { verdicts: vec![Verdict::Again; messages], taken: 0, refused: 0 };
        for (table, why) in impossible {
            let places = groups.iter().filter(|group| group.table == *table).flat_map(|group| &group.places);
            places.for_each(|place| account.refuse(*place, &why));
        }
        let there = self.put_carefully(groups, &mut account, load).await?;
        if !there.is_empty() {
            return Ok(are_there(&there, account.verdicts));
        }
        let after = (!account.is_suspicious()).then_some(Duration::ZERO);
        Ok(Outcome::Judged { verdicts: account.verdicts, after })
    }

    async fn prepare(&mut self, table: &str) -> Result<(), NotDone> {
        if !self.plan.makes_tables || self.tables.contains(table) {
            return Ok(());
        }
        schema::prepare(&self.plan, &mut self.server, table).await.map_err(|fault| match fault {
            // Statements that make tables have no rows.
            NotDone::Row { why, .. } | NotDone::Rows(why) => NotDone::Hold(why),
            NotDone::Hold(why) if self.plan.is_foreign(table) => NotDone::Table(why),
            fault => fault,
        })?;
        if self.tables.len() >= TABLES_MAX {
            self.tables.clear();
        }
        self.tables.insert(table.to_owned());
        Ok(())
    }

    /// All of a batch, when there is nothing wrong with it. The transaction is always written out: PostgreSQL
    /// says that a COPY alone is complete before it looks at deferred constraints. Where some messages are
    /// there already, nothing is put, and these are returned.
    async fn put_at_once(&mut self, groups: &[Group], load: &Load) -> Result<Vec<usize>, NotDone> {
        let there = self.begin_transaction(load).await?;
        if there.is_empty() {
            match self.put_all(groups).await {
                Ok(()) => self.commit(load).await?,
                Err(fault) => return self.undo(fault).await,
            }
        }
        Ok(there)
    }

    /// Begins one. Where some messages are there already, it is over again, and these are returned.
    async fn begin_transaction(&mut self, load: &Load) -> Result<Vec<usize>, NotDone> {
        self.server.execute(S::BEGIN).await?;
        let HowFar::Offsets(offsets) = &self.kept else { return Ok(Vec::new()) };
        match offsets.reached(&mut self.server, &load.places).await {
            Ok(reached) => self.reached = reached,
            Err(fault) => return self.undo(fault).await,
        }
        let there = load.places.passed_over(&mut self.reached);
        if !there.is_empty() {
            self.server.execute("ROLLBACK").await?;
        }
        Ok(there)
    }

    async fn put_all(&mut self, groups: &[Group]) -> Result<(), NotDone> {
        for group in groups {
            self.put_rows(group, 0, group.rows.count()).await?;
        }
        Ok(())
    }

    /// Rows of a group from one to another.
    async fn put_rows(&mut self, group: &Group, from: usize, to: usize) -> Result<(), NotDone> {
        let places = group.places.get(from..to).unwrap_or_default();
        let mut keys = self.followed.asks(places);
        let rows = group.rows.part(from, to);
        self.server.put(&self.plan, &group.table, &rows, &mut keys).await?;
        self.followed.are_in(&group.table, places, keys);
        Ok(())
    }

    /// Makes certain what was put, and the position behind it.
    async fn commit(&mut self, load: &Load) -> Result<(), NotDone> {
        if self.followed.is_anywhere() {
            self.followed.transaction = self.server.transaction().await?;
        }
        let until = load.until();
        let moved = match (&self.kept, until) {
            (HowFar::Queue(cursor), Some(until)) => cursor.move_to(&mut self.server, until).await,
            (HowFar::Offsets(offsets), _) => {
                offsets.move_to(&mut self.server, &load.places, &self.reached).await
            }
            _ => Ok(()),
        };
        if let Err(fault) = moved {
            return self.undo(fault).await;
        }
        if let Err(fault) = self.server.commit().await {
            return self.undo(fault).await;
        }
        self.position = until.unwrap_or(self.position);
        Ok(())
    }

    /// Ends a transaction that came to nothing.
    async fn undo<T>(&mut self, fault: NotDone) -> Result<T, NotDone> {
        self.followed.are_nowhere();
        if !matches!(fault, NotDone::Away(_) | NotDone::Unknown(_))
            && self.server.execute("ROLLBACK").await.is_err()
        {
            self.leave();
        }
        Err(fault)
    }
}

/// What is wrong with a statement of the configuration is no message's fault.
fn by_configuration(fault: NotDone, statement: &str) -> NotDone {
    match fault {
        NotDone::Row { why, .. } | NotDone::Rows(why) | NotDone::Table(why) | NotDone::Hold(why) => {
            NotDone::Hold(format!("session-statements(\"{statement}\"): {why}"))
        }
        fault => fault,
    }
}
