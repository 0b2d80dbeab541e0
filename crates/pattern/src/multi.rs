//! Many patterns on one text.
use crate::cache::Cache;
use crate::pattern::Pattern;
pub struct MultiPattern {}
impl MultiPattern {
    pub fn compile(_p: &[&Pattern]) -> MultiPattern { MultiPattern {} }
    pub fn matches(&self, _t: &[u8], _c: &mut Cache) {}
}
