//! The vocabulary of generated text and a small repeatable random source: the same run makes the same
//! messages.

const WORDS: [&str; 32] = [
    "session",
    "opened",
    "for",
    "user",
    "root",
    "connection",
    "from",
    "10.1.2.3",
    "port",
    "51422",
    "accepted",
    "publickey",
    "GET",
    "/index.html",
    "HTTP/1.1",
    "200",
    "denied",
    "policy",
    "eth0",
    "link",
    "up",
    "status=ok",
    "pid",
    "kernel",
    "error:",
    "timeout",
    "after",
    "30s",
    "retrying",
    "uid=0",
    "closed",
    "ssh2",
];

/// splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(7))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len() as u64) as usize]
    }
}
