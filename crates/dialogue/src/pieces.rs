//! What a peer says, taken apart.

use crate::session::Loss;

/// Hands each whole piece of `input` to `take`, and returns how many bytes they were. `first` finds the first
/// piece and its length; there is none when more is needed.
pub fn pieces<'a, P>(
    input: &'a [u8],
    first: impl Fn(&'a [u8]) -> Result<Option<(P, usize)>, Loss>,
    mut take: impl FnMut(P) -> Result<(), Loss>,
) -> Result<usize, Loss> {
    let mut understood = 0;
    while let Some((piece, length)) = first(input.get(understood..).unwrap_or_default())? {
        take(piece)?;
        understood += length;
    }
    Ok(understood)
}
