//! A batch on its way: mails, made on the worker.

use crate::mail::{Parts, Plan};
use flight::Part;

/// The mails of a batch, in the order of its messages.
pub struct Load(pub Vec<Vec<u8>>);

/// Messages have the time, the subject, the values of headers and an id in front of their body.
pub fn load(plan: &Plan, part: &Part<'_>) -> Load {
    let mail = |message: &&[u8]| {
        let mut fields: Vec<&[u8]> = flight::fields(message).collect();
        let body = fields.pop().unwrap_or_default();
        let mut fields = fields.into_iter();
        let time = fields.next().and_then(|time| std::str::from_utf8(time).ok()?.trim().parse().ok());
        let subject = fields.next().unwrap_or_default();
        let headers = fields.by_ref().take(plan.headers.len()).collect();
        let id = fields.next().unwrap_or_default();
        plan.mail(&Parts { time: time.unwrap_or(0), subject, headers, id, body })
    };
    Load(part.messages.iter().map(mail).collect())
}
