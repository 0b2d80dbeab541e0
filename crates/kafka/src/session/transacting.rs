//! What a producer with transactions asks on a connection.

use super::{Expected, Fault, Session};
use crate::requests::transacting::Question;

impl Session {
    pub fn transact(&mut self, question: &Question) -> Result<(), Fault> {
        let api = question.api();
        let version = match question {
            // From here on the coordinator says what is stable.
            Question::Position(..) => self.common(api, (7, 7))?,
            _ => self.version(api)?,
        };
        self.ask(api, version, Expected::Transaction(question.asked()), |out| question.put(out));
        Ok(())
    }
}
