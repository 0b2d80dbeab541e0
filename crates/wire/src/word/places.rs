//! Places in a text, written down window by window.

/// Places found so far. `MANY` of a window are written without asking how many there are.
#[derive(Default)]
pub(crate) struct Places<const MANY: usize> {
    room: Vec<u32>,
    count: usize,
}

impl<const MANY: usize> Places<MANY> {
    /// Begins anew, with room for a place at every byte of a text.
    #[inline]
    pub fn begin(&mut self, len: usize) {
        // A window writes up to 64 places, however few of them are bytes of the text.
        if self.room.len() < len + 64 {
            self.room.resize(len + 64, 0);
        }
        self.count = 0;
    }

    #[inline]
    pub fn all(&self) -> &[u32] {
        self.room.get(..self.count).unwrap_or_default()
    }

    /// Adds those whose bits are set, of the window at `base`. `None` when there is no room.
    #[inline(always)]
    pub fn put(&mut self, base: usize, mut bits: u64) -> Option<()> {
        let found = bits.count_ones() as usize;
        let room = self.room.get_mut(self.count..)?.first_chunk_mut::<64>()?;
        let (first, more) = room.split_at_mut(MANY);
        for place in first {
            *place = base as u32 + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
        if found > MANY {
            for place in more {
                *place = base as u32 + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                if bits == 0 {
                    break;
                }
            }
        }
        self.count += found;
        Some(())
    }
}
