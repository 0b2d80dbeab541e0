//! The server and the bucket that objects are in, and as whom it is spoken to.

use crate::credentials::Credentials;
use crate::name::encoded;
use http_client::{Network, Url};
use std::sync::Arc;
use std::time::Duration;

pub struct Server {
    pub url: Url,
    pub bucket: String,
    pub region: String,
    pub credentials: Credentials,
    pub network: Arc<Network>,
    /// A server that has not answered a request by then will not.
    pub patience: Duration,
    /// Differs where a reload has to begin anew.
    pub described: String,
}

impl Server {
    /// The bucket as paths have it.
    pub fn path(&self) -> String {
        format!("/{}", encoded(self.bucket.as_bytes(), false))
    }

    /// An object as paths have it.
    pub fn path_of(&self, key: &str) -> String {
        format!("{}/{}", self.path(), encoded(key.as_bytes(), true))
    }
}
