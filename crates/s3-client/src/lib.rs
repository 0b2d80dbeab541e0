//! Objects made of batches: names from places in the queue, requests signed as S3 wants them, outcomes out of
//! answers.
//!
//! An object is one batch, in one request or in several parts, made only where there is none of its name
//! (`If-None-Match: *`). Its name has the number of its first message in the queue on disk, and the object
//! carries that of its last: so a batch that comes again after a kill is told to be there already, as far as
//! it is. The first batch of a run may begin in the middle of an object: the one before it is looked up.

mod account;
mod answer;
mod batch;
mod credentials;
mod earlier;
mod name;
pub mod options;
mod place;
mod plan;
mod profile;
pub mod pull;
mod server;
mod session;
mod sign;
mod speaker;
mod upload;

pub use answer::{element, elements};
pub use batch::{Load, load};
pub use credentials::keys;
pub use name::KEY_BYTES_MAX;
pub use plan::{Packing, Parts, Plan};
pub use server::Server;
pub use session::serve;

/// For the fuzz target: reads whatever answers are looked at for.
pub fn read_anything(bytes: &[u8]) {
    let _ = (element(bytes, "Code"), keys(bytes));
    pull::read_anything(bytes);
    for upload in elements(bytes, "Upload") {
        let _ = element(upload.as_bytes(), "Key");
    }
}
