//! What has to hold for any bytes of a peer: the fuzz target and the test that replays its seeds look at the
//! same.

use crate::ocsp::Staples;
use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, UnixTime};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// 2030-01-01.
const NOW: u64 = 1_893_456_000;

static ROOT: &[u8] = include_bytes!("tests/fixtures/ocsp-ca.der");
static LEAF: &[u8] = include_bytes!("tests/fixtures/ocsp-leaf.der");

/// The answers that are good: nobody has the keys to make another.
static GOOD: [&[u8]; 4] = [
    include_bytes!("../../../fuzz/seeds/ocsp/good-by-issuer"),
    include_bytes!("../../../fuzz/seeds/ocsp/good-by-key"),
    include_bytes!("../../../fuzz/seeds/ocsp/good-delegated"),
    include_bytes!("../../../fuzz/seeds/ocsp/good-sha256"),
];
/// What is signed stands first; the name of the algorithm and the signature follow.
const SIGNED_BYTES: usize = 180;

static STAPLES: LazyLock<Staples> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(ROOT)).expect("a root");
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    Staples::new(Arc::new(roots), &[], algorithms).expect("no lists")
});

/// Whether this counts as an answer for a certificate. An answer that does says what a good one says.
pub fn ocsp(answer: &[u8]) -> bool {
    let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    let taken = STAPLES.check(&CertificateDer::from(LEAF), &[], answer, now, now).is_ok();
    // The signed part begins behind the heads of what is around it, whose length is not signed.
    let same = |good: &&[u8]| {
        let signed = &good[good.len().min(40)..good.len().min(SIGNED_BYTES)];
        answer.windows(signed.len()).any(|window| window == signed)
    };
    assert!(!taken || GOOD.iter().any(same), "an answer that nobody has signed is taken");
    taken
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/ocsp");
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).expect("seeds") {
            let path = entry.expect("a seed").path();
            let good = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("good"));
            let bytes = std::fs::read(&path).expect("a seed");
            assert_eq!(super::ocsp(&bytes), good, "{}", path.display());
            count += 1;
        }
        assert!(count >= 8, "{count} seeds");
    }
}
