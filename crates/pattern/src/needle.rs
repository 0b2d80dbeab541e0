//! A text that is looked for in others, as quickly as can be.

use memchr::memmem;

#[derive(Debug)]
pub struct Needle(memmem::Finder<'static>);

impl Needle {
    pub fn new(text: &[u8]) -> Needle {
        Needle(memmem::Finder::new(text).into_owned())
    }

    pub fn text(&self) -> &[u8] {
        self.0.needle()
    }

    pub fn stands_in(&self, text: &[u8]) -> bool {
        self.0.find(text).is_some()
    }
}
