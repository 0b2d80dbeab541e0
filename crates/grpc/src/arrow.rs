//! Arrow Flight: each batch a record batch of Apache Arrow, put by one call of
//! `arrow.flight.protocol.FlightService/DoPut` to the path that its messages have in common.

mod column;

pub use column::{Column, Kind};

use crate::frame;
use crate::judge::without;
use crate::plan::Plan;
use crate::session::{Call, Caller};
use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow_schema::{ArrowError, Schema};
use column::Values;
use flight::{Outcome, Part};
use guest::{Answer, Jobs, Order};
use std::sync::Arc;
use wire::protobuf::{put_bytes, put_message, put_number};

const PATH: &str = "/arrow.flight.protocol.FlightService/DoPut";
/// `FlightDescriptor.DescriptorType.PATH`.
const BY_PATH: u64 = 1;
/// Where the buffers stand in a `FlightData`.
const BODY: u32 = 1000;

/// What all batches of a destination have in common.
pub struct Table {
    columns: Vec<Column>,
    schema: Arc<Schema>,
    /// A value that is not what its column is, is NULL and does not cost its message.
    leaves_out: bool,
}

impl Table {
    pub fn new(columns: Vec<Column>, leaves_out: bool) -> Table {
        let fields: Vec<_> = columns.iter().map(Column::field).collect();
        Table { columns, schema: Arc::new(Schema::new(fields)), leaves_out }
    }
}

/// A batch on its way: made on the worker.
pub struct Load {
    key: Vec<u8>,
    messages: usize,
    /// Messages that cannot be a row, by their place, and why; without them, what is sent.
    made: Result<Vec<u8>, Vec<(usize, String)>>,
}

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, jobs: Jobs<Load>) {
    let mut caller = Caller::new(plan);
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => caller.reopen(),
            Order::Send(job) => {
                let outcome = deliver(&mut caller, job.load, &job.answer).await;
                let outcome = outcome.unwrap_or_else(|outcome| outcome);
                job.answer.say(outcome);
            }
        }
    }
}

async fn deliver(caller: &mut Caller, load: Load, answer: &Answer) -> Result<Outcome, Outcome> {
    let message = match load.made {
        Ok(message) => message,
        Err(wrong) => return Ok(without(load.messages, &wrong)),
    };
    let reply = caller.ask(Call { path: PATH, message, key: load.key, params: None }).await?;
    caller.say_where(answer, PATH, &reply);
    // Servers answer with words of their own, or none: that they took it all is what the status says.
    caller.answer(&reply)?;
    Ok(Outcome::Delivered)
}

/// A batch as a call. The first part of its key is the path; fields of a message are the values of its
/// columns, the last of them its text.
pub fn load(part: &Part<'_>, table: &Table) -> Load {
    let mut values: Vec<Values> =
        table.columns.iter().map(|column| column.values(part.messages.len())).collect();
    let mut wrong = Vec::new();
    for (at, message) in part.messages.iter().enumerate() {
        let mut why = None;
        for ((column, values), value) in table.columns.iter().zip(&mut values).zip(flight::fields(message)) {
            if values.put(value).is_none() {
                why.get_or_insert_with(|| column.wrong(value));
            }
        }
        wrong.extend(why.filter(|_| !table.leaves_out).map(|why| (at, why)));
    }
    let path = http_client::keys(part.key).next().unwrap_or_default();
    let made = match wrong.is_empty() {
        true => {
            let arrays = values.into_iter().map(Values::finish).collect();
            let batch = RecordBatch::try_new(Arc::clone(&table.schema), arrays);
            let made = batch.and_then(|batch| message(path, &table.schema, &batch));
            made.map_err(|error| vec![(0, error.to_string())])
        }
        false => Err(wrong),
    };
    Load { key: part.key.to_vec(), messages: part.messages.len(), made }
}

/// The schema with the path, and the rows behind it, each in a frame.
fn message(path: &[u8], schema: &Schema, batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let (generator, options) = (IpcDataGenerator::default(), IpcWriteOptions::default());
    let mut tracker = DictionaryTracker::new(false);
    let head = generator.schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options);
    let mut context = IpcWriteContext::default();
    let (_, rows) = generator.encode(batch, &mut tracker, &options, &mut context)?;
    let mut out = data(&head, |out| {
        put_message(out, 1, |descriptor| {
            put_number(descriptor, 1, BY_PATH);
            put_bytes(descriptor, 3, String::from_utf8_lossy(path).as_bytes());
        });
    });
    out.extend(data(&rows, |_| {}));
    Ok(out)
}

/// A `FlightData` in its frame.
fn data(encoded: &EncodedData, put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = frame::begin(encoded.ipc_message.len() + encoded.arrow_data.len() + 64);
    put(&mut out);
    put_bytes(&mut out, 2, &encoded.ipc_message);
    if !encoded.arrow_data.is_empty() {
        put_bytes(&mut out, BODY, &encoded.arrow_data);
    }
    frame::end(&mut out);
    out
}
