//! What runs for one outlet: a stream of the table, and batches appended to it one after the other.

use super::said::{
    ALREADY_EXISTS, Appended, FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, stream_name,
};
use super::{Rows, Table};
use crate::frame;
use crate::judge::{usual, without};
use crate::plan::Plan;
use crate::session::{Call, Caller};
use crate::status::{Code, Status};
use flight::{Outcome, Verdict};
use guest::{Answer, Jobs, Order};
use std::sync::Arc;
use std::time::Duration;
use wire::protobuf::{put_bytes, put_message, put_number};

const CREATE: &str = "/google.cloud.bigquery.storage.v1.BigQueryWrite/CreateWriteStream";
const APPEND: &str = "/google.cloud.bigquery.storage.v1.BigQueryWrite/AppendRows";
/// `WriteStream.Type.COMMITTED`: rows can be read as soon as they are taken.
const COMMITTED: u64 = 1;

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, table: Arc<Table>, jobs: Jobs<Rows>) {
    let mut session = Session { caller: Caller::new(plan), table, stream: None };
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => session.caller.reopen(),
            Order::Send(job) => {
                let outcome = session.deliver(&job.load, &job.answer).await.unwrap_or_else(|outcome| outcome);
                job.answer.say(outcome);
            }
        }
    }
}

struct Session {
    caller: Caller,
    table: Arc<Table>,
    stream: Option<Stream>,
}

/// A stream that nobody else writes to.
struct Stream {
    name: String,
    /// Rows that it has, as far as that was said.
    offset: u64,
    /// Marks of rows behind those, which it has all or none of.
    unsure: Vec<u64>,
}

impl Stream {
    /// What was not known to be there is there: of a batch, so many of its first rows.
    fn have(&mut self, rows: &Rows) -> usize {
        let same = self.unsure.iter().zip(&rows.marks).take_while(|(one, other)| one == other).count();
        if same == rows.messages() {
            self.unsure.drain(..same);
            self.offset += same as u64;
        } else {
            self.offset += self.unsure.len() as u64;
            self.unsure.clear();
        }
        same
    }
}

impl Session {
    async fn deliver(&mut self, rows: &Rows, answer: &Answer) -> Result<Outcome, Outcome> {
        if !rows.refused.is_empty() {
            return Ok(without(rows.messages(), &rows.refused));
        }
        let (name, offset) = self.stream(rows).await?;
        let call = Call {
            path: APPEND,
            message: self.append(&name, offset, rows),
            key: rows.key.clone(),
            params: Some(format!("write_stream={name}")),
        };
        let replied = match self.caller.ask(call).await {
            Ok(reply) => reply,
            Err(outcome) => {
                if matches!(outcome, Outcome::Unknown(_)) {
                    self.is_unsure(rows);
                }
                return Err(outcome);
            }
        };
        // Some errors end the call, others stand in its answer.
        if let Some(error) = of_stream(&replied.status) {
            return self.failed(error, replied.status.words(), rows);
        }
        if replied.status.code != Code::OK {
            self.is_unsure(rows);
        }
        // A row is in its stream at the place that it asked for.
        answer.is_at(|at| [("stream", name.as_str().into()), ("offset", (offset + at as u64).into())]);
        let answer = self.caller.answer(&replied)?;
        let unknown = |why: &str| Outcome::Unknown(why.to_owned());
        let Ok(appended) = Appended::read(&answer) else {
            self.is_unsure(rows);
            return Err(unknown("the answer is no message of BigQuery"));
        };
        match appended.error {
            Some((code, why)) if appended.rows.is_empty() => self.failed(code, why, rows),
            Some(_) => Ok(without(rows.messages(), &appended.rows)),
            None if appended.is_done => {
                if let Some(stream) = &mut self.stream {
                    stream.offset += rows.messages() as u64;
                    stream.unsure.clear();
                }
                Ok(Outcome::Delivered)
            }
            None => {
                self.is_unsure(rows);
                Err(unknown("the server has not said where the rows are"))
            }
        }
    }

    /// The rows may be there, or not.
    fn is_unsure(&mut self, rows: &Rows) {
        if let Some(stream) = &mut self.stream
            && stream.unsure.is_empty()
        {
            stream.unsure = rows.marks.clone();
        }
    }

    /// What an error means that the server has said of rows, or of their stream.
    fn failed(&mut self, code: u64, why: String, rows: &Rows) -> Result<Outcome, Outcome> {
        let messages = rows.messages();
        match (code, &mut self.stream) {
            (ALREADY_EXISTS, Some(stream)) if !stream.unsure.is_empty() => {
                let have = stream.have(rows);
                if have == messages {
                    return Ok(Outcome::Delivered);
                }
                let verdicts = vec![Verdict::Delivered; have];
                Ok(Outcome::Judged { verdicts, after: Some(Duration::ZERO) })
            }
            // A stream that is gone, was ended, or has other rows than we know of: the next batch begins one.
            (ALREADY_EXISTS | OUT_OF_RANGE | NOT_FOUND | FAILED_PRECONDITION, _) => {
                self.stream = None;
                Ok(Outcome::Again { after: None, counts: false, why })
            }
            // Columns that the table does not have: it is never the messages.
            (INVALID_ARGUMENT, _) if why.to_ascii_lowercase().contains("schema") => Ok(Outcome::Hold(why)),
            (INVALID_ARGUMENT, _) => Ok(Outcome::Split(why)),
            _ => Ok(usual(&Status {
                code: Code(u32::try_from(code).unwrap_or(Code::UNKNOWN.0)),
                message: why,
                retry_after: None,
            })),
        }
    }

    /// The name of the stream, and where the next rows belong in it.
    async fn stream(&mut self, rows: &Rows) -> Result<(String, u64), Outcome> {
        if let Some(stream) = &self.stream {
            return Ok((stream.name.clone(), stream.offset));
        }
        let mut message = frame::begin(100);
        put_bytes(&mut message, 1, self.table.path.as_bytes());
        put_message(&mut message, 2, |stream| put_number(stream, 2, COMMITTED));
        frame::end(&mut message);
        let params = Some(format!("parent={}", self.table.path));
        let call = Call { path: CREATE, message, key: rows.key.clone(), params };
        // A stream that was made and is not known has nothing in it.
        let reply = self.caller.ask(call).await.map_err(|outcome| match outcome {
            Outcome::Unknown(why) => Outcome::Away(why),
            other => other,
        })?;
        let answer = self.caller.answer(&reply).map_err(|outcome| match outcome {
            // It is never the messages.
            Outcome::Split(why) | Outcome::Refused(why) => Outcome::Hold(why),
            other => other,
        })?;
        let Some(name) = stream_name(&answer) else {
            return Err(Outcome::Hold("the server has made a stream without a name".to_owned()));
        };
        self.stream = Some(Stream { name: name.clone(), offset: 0, unsure: Vec::new() });
        Ok((name, 0))
    }

    /// An `AppendRowsRequest` in its frame.
    fn append(&self, stream: &str, offset: u64, rows: &Rows) -> Vec<u8> {
        let mut out = frame::begin(rows.bytes.len() + rows.messages() * 6 + 1024);
        put_bytes(&mut out, 1, stream.as_bytes());
        put_message(&mut out, 2, |value| {
            if offset > 0 {
                put_number(value, 1, offset);
            }
        });
        put_message(&mut out, 4, |data| {
            self.table.put_schema(data, 1);
            put_message(data, 2, |list| rows.iter().for_each(|row| put_bytes(list, 1, row)));
        });
        frame::end(&mut out);
        out
    }
}

/// Errors that say something of the stream, as the status of a call.
fn of_stream(status: &Status) -> Option<u64> {
    let code = u64::from(status.code.0);
    matches!(code, ALREADY_EXISTS | OUT_OF_RANGE | NOT_FOUND | FAILED_PRECONDITION).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(marks: &[u64]) -> Rows {
        let ends = (1..=marks.len()).collect();
        Rows { key: Vec::new(), bytes: Vec::new(), ends, marks: marks.to_vec(), refused: Vec::new() }
    }

    #[test]
    fn rows_whose_answer_was_lost_are_known_again() {
        let stream = || Stream { name: "s".to_owned(), offset: 10, unsure: vec![1, 2, 3] };
        let mut same = stream();
        assert_eq!((same.have(&rows(&[1, 2, 3])), same.offset, same.unsure.len()), (3, 13, 0));
        let mut less = stream();
        assert_eq!((less.have(&rows(&[1, 2])), less.offset, less.unsure.as_slice()), (2, 12, &[3][..]));
        let mut more = stream();
        assert_eq!((more.have(&rows(&[1, 2, 3, 4])), more.offset), (3, 13));
        let mut other = stream();
        assert_eq!((other.have(&rows(&[2, 3])), other.offset), (0, 13));
    }
}
