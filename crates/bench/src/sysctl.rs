//! The kernel's limit for socket buffers, raised for cases whose whole input waits in one and put back
//! afterwards.

use std::fs;

const RMEM_MAX: &str = "/proc/sys/net/core/rmem_max";
/// What a source asks for in such a case. The kernel counts its own bookkeeping too, so about as much data
/// fits.
pub const PREPARED_BYTES: u64 = 512 << 20;

/// Puts the limit back when dropped.
pub struct Raised {
    before: Option<String>,
}

/// Raises the limit; without the right to, the buffer stays small and so does the prepared input.
pub fn raise_rmem_max() -> Raised {
    let now = fs::read_to_string(RMEM_MAX).unwrap_or_default();
    if now.trim().parse::<u64>().is_ok_and(|limit| limit >= PREPARED_BYTES) {
        return Raised { before: None };
    }
    match fs::write(RMEM_MAX, PREPARED_BYTES.to_string()) {
        Ok(()) => Raised { before: Some(now) },
        Err(_) => Raised { before: None },
    }
}

/// Bytes of messages that a prepared buffer holds under the current limit, to be on the safe side.
pub fn prepared_room() -> u64 {
    let limit = fs::read_to_string(RMEM_MAX).unwrap_or_default();
    limit.trim().parse::<u64>().unwrap_or(0).min(PREPARED_BYTES)
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = fs::write(RMEM_MAX, before.trim());
        }
    }
}
