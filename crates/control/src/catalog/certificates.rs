//! When the certificates shown to peers end.

use crate::counters::Counter;

/// The certificates of everything that runs. A chain's members are told apart by their subjects.
pub fn certificates() -> Vec<Counter> {
    let ends = tls::certificates().into_iter();
    ends.map(|end| {
        let labels = vec![("file", end.file.display().to_string()), ("subject", end.subject)];
        // One that ended before 1970 has ended.
        super::metric(0, NAME, labels, u64::try_from(end.not_after).unwrap_or(0))
    })
    .collect()
}

pub const NAME: &str = "tls_certificate_not_after_timestamp_seconds";
