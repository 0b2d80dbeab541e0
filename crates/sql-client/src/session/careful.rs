//! How the rows of a batch that the server does not take are found, and the others put.

use super::{HowFar, Session};
use crate::account::Account;
use crate::batch::{Group, Load};
use crate::not_done::NotDone;
use crate::server::Server;
use flight::Verdict;

/// Behind a row that was refused, the next ones go in pieces of so many, and each piece that is taken doubles
/// them.
const PIECE_MIN: usize = 64;

const MARK: &str = "SAVEPOINT penstock";
const BACK_TO_MARK: &str = "ROLLBACK TO SAVEPOINT penstock";

impl<S: Server> Session<S> {
    /// A batch with rows that the server does not take: these are found, and the others are put in their
    /// order, all in one transaction. Where some are there already, nothing is put, and these are returned.
    pub(super) async fn put_carefully(
        &mut self,
        groups: &[Group],
        account: &mut Account,
        load: &Load,
    ) -> Result<Vec<usize>, NotDone> {
        let there = self.begin_transaction(load).await?;
        if !there.is_empty() {
            return Ok(there);
        }
        for group in groups {
            let is_refused =
                |place: &u32| matches!(account.verdicts.get(*place as usize), Some(Verdict::Refused(_)));
            if group.places.first().is_some_and(is_refused) {
                continue;
            }
            match self.put_group(group, account).await {
                Ok(()) => {}
                Err(NotDone::Table(why)) if self.plan.table.is_none() => {
                    group.places.iter().for_each(|place| account.refuse(*place, &why));
                }
                Err(fault) => return self.undo(fault).await,
            }
        }
        if matches!(self.kept, HowFar::Nowhere) || account.refused == 0 {
            self.commit(load).await?;
            return Ok(there);
        }
        // The position may not pass a message before its letter is written: it is told alone, and the others
        // come again without it.
        self.server.execute("ROLLBACK").await?;
        self.followed.are_nowhere();
        account.taken = 0;
        let taken = account.verdicts.iter_mut().filter(|verdict| **verdict == Verdict::Delivered);
        taken.for_each(|verdict| *verdict = Verdict::Again);
        Ok(there)
    }

    async fn put_group(&mut self, group: &Group, account: &mut Account) -> Result<(), NotDone> {
        let (mut at, mut piece) = (0, group.rows.count());
        // One that was named by a server that may mean another: those before it go first, then it alone.
        let mut suspect = None;
        while at < group.rows.count() && !account.is_suspicious() {
            let to = match suspect {
                Some(suspect) if suspect > at => suspect,
                Some(suspect) if suspect == at => at + 1,
                _ => at.saturating_add(piece).min(group.rows.count()),
            };
            match self.put_piece(group, at, to).await {
                Ok(()) => {
                    account.take(group.places.get(at..to).unwrap_or_default());
                    at = to;
                    piece = piece.saturating_mul(2);
                }
                Err(NotDone::Row { at: bad, .. }) if !S::IS_SURE_OF_ROWS && at + bad < to && to - at > 1 => {
                    suspect = Some(at + bad);
                    // Where it was another one, that is come up to in growing pieces.
                    piece = 1;
                }
                Err(NotDone::Row { at: bad, why }) if at + bad < to => {
                    let bad = at + bad;
                    // Those before it were taken, and went with it.
                    if bad > at {
                        self.put_piece(group, at, bad).await?;
                        account.take(group.places.get(at..bad).unwrap_or_default());
                    }
                    group.places.get(bad).into_iter().for_each(|place| account.refuse(*place, &why));
                    piece = PIECE_MIN.max(bad - at);
                    at = bad + 1;
                }
                Err(NotDone::Rows(why) | NotDone::Row { why, .. }) => {
                    suspect = None;
                    if to - at == 1 {
                        group.places.get(at).into_iter().for_each(|place| account.refuse(*place, &why));
                        at = to;
                    }
                    piece = (to - at).div_ceil(2).max(1);
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Some rows, or none of them.
    async fn put_piece(&mut self, group: &Group, from: usize, to: usize) -> Result<(), NotDone> {
        self.server.execute(MARK).await?;
        let result = self.put_rows(group, from, to).await;
        if let Err(NotDone::Row { .. } | NotDone::Rows(_) | NotDone::Table(_)) = result {
            self.server.execute(BACK_TO_MARK).await?;
        }
        result
    }
}
