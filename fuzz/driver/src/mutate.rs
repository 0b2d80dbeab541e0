//! Inputs made of known ones by small changes.

/// The longest input that is made.
const BYTES_MAX: usize = 4096;

/// Bytes at which readers turn.
const TURNS: &[u8] = b"\0\t\n\r \"'(),-./0123456789:;<=>[\\]{|}~\x7f\x80\xbf\xc3\xe2\xf0\xff";

/// xorshift64*: the same numbers for the same start.
pub struct Random(u64);

impl Random {
    pub fn new(start: u64) -> Random {
        Random(start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Below `end`; 0 where that is 0.
    fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }
}

pub struct Mutator {
    known: Vec<Vec<u8>>,
    /// What stands between turns in the known inputs.
    words: Vec<Vec<u8>>,
    random: Random,
}

impl Mutator {
    pub fn new(known: Vec<Vec<u8>>, random: Random) -> Mutator {
        let is_turn = |byte: &u8| TURNS.contains(byte) && !byte.is_ascii_digit();
        let mut words: Vec<Vec<u8>> = known
            .iter()
            .flat_map(|input| input.split(is_turn))
            .filter(|w| w.len() > 1)
            .map(<[u8]>::to_vec)
            .collect();
        words.sort_unstable();
        words.dedup();
        Mutator { known, words, random }
    }

    /// Puts another input into `out`.
    pub fn make(&mut self, out: &mut Vec<u8>) {
        let one = self.random.below(self.known.len());
        out.clear();
        out.extend(self.known.get(one).into_iter().flatten());
        let changes = 1 << self.random.below(5);
        for _ in 0..=self.random.below(changes) {
            self.change(out);
        }
        out.truncate(BYTES_MAX);
    }

    fn change(&mut self, out: &mut Vec<u8>) {
        let random = &mut self.random;
        let at = random.below(out.len() + 1);
        let most = 1 << random.below(8);
        let end = at + random.below(out.len() - at + 1).min(most);
        match random.below(10) {
            0 => out.get_mut(at..).and_then(<[u8]>::first_mut).map_or((), |b| *b ^= 1 << random.below(8)),
            1 => out.get_mut(at..).and_then(<[u8]>::first_mut).map_or((), |b| *b = random.next() as u8),
            2 => out
                .get_mut(at..)
                .and_then(<[u8]>::first_mut)
                .map_or((), |b| *b = TURNS[random.below(TURNS.len())]),
            3 => out.insert(at, TURNS[random.below(TURNS.len())]),
            4 => drop(out.drain(at..end)),
            // Once more what stands there.
            5 => {
                let part = out[at..end].to_vec();
                out.splice(at..at, part);
            }
            6 => {
                let word = random.below(self.words.len());
                let word = self.words.get(word).cloned().unwrap_or_default();
                out.splice(at..at, word);
            }
            7 => {
                let word = random.below(self.words.len());
                let word = self.words.get(word).cloned().unwrap_or_default();
                out.splice(at..end, word);
            }
            // A number that is at an edge.
            8 => {
                let edges: [i64; 8] = [0, -1, 255, 65_536, i64::from(i32::MAX), 1 << 32, i64::MAX, i64::MIN];
                out.splice(at..end, edges[random.below(edges.len())].to_string().into_bytes());
            }
            // The rest of another input.
            _ => {
                let other = random.below(self.known.len());
                if let Some(other) = self.known.get(other) {
                    let from = random.below(other.len() + 1);
                    out.truncate(at);
                    out.extend_from_slice(&other[from..]);
                }
            }
        }
    }
}
