//! What all files of a destination have in common.

use std::time::Duration;

pub struct Plan {
    /// What the log calls the destination.
    pub name: String,
    /// `hdfs://host:port`, or a name that `options` know.
    pub uri: String,
    /// Properties by Hadoop's names.
    pub options: Vec<(String, String)>,
    pub login: Option<Login>,
    /// Files that are there are written on.
    pub appends: bool,
    /// The folder that files are moved to when they are closed.
    pub archive: Option<String>,
    /// The most bytes of the last part of a path.
    pub name_bytes_max: usize,
    /// A file that nothing was written to for so long is closed.
    pub reap: Option<Duration>,
    /// A call that takes longer will not be answered.
    pub patience: Duration,
}

/// As whom Kerberos knows the program.
pub struct Login {
    pub principal: String,
    pub keytab: String,
}
