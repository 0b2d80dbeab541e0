//! What a destination has begun, its last runs or numberings, as the state file keeps them.

/// So many are remembered.
pub const RUNS_MAX: usize = 32;

/// Version, runs.
pub fn encode(runs: &[u64]) -> Vec<u8> {
    let mut value = vec![1];
    runs.iter().for_each(|run| value.extend_from_slice(&run.to_le_bytes()));
    value
}

pub fn decode(value: &[u8]) -> Option<Vec<u64>> {
    let (version, runs) = value.split_first()?;
    let (runs, rest) = runs.as_chunks::<8>();
    let known = *version == 1 && rest.is_empty() && runs.len() <= RUNS_MAX;
    known.then(|| runs.iter().map(|run| u64::from_le_bytes(*run)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_nothing_else() {
        for runs in [&[][..], &[7], &[1, u64::MAX]] {
            assert_eq!(decode(&encode(runs)).as_deref(), Some(runs));
        }
        assert_eq!(decode(&encode(&[1; RUNS_MAX + 1])), None);
        assert_eq!((decode(b""), decode(b"\x02"), decode(b"\x01abc")), (None, None, None));
    }
}
