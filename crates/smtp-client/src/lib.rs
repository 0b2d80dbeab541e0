//! Mails made of messages, and how a mail server is spoken to: RFC 5321, one mail after the other on one
//! connection, each with an outcome of its own.

mod address;
mod dialog;
mod load;
mod mail;
mod reply;
mod session;

pub use address::Mailbox;
pub use load::{Load, load};
pub use mail::{Header, Plan as MailPlan, TRANSFER_ENCODING};
pub use reply::{Reply, read};
pub use session::{Login, Plan, Security, serve};

/// For the fuzz target: reads replies until there is none.
pub fn read_anything(mut bytes: &[u8]) {
    while let Ok(Some((reply, taken))) = read(bytes) {
        let _ = (reply.words(), reply.offers("AUTH"));
        bytes = bytes.get(taken..).unwrap_or_default();
    }
}
