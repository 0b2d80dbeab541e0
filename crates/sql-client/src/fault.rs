//! Why something was not done, by what follows from it.

use flight::Outcome;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server does not take this row of those that it was given; its words.
    Row { at: usize, why: String },
    /// There is something in the rows that it does not take.
    Rows(String),
    /// No table can have this name.
    Table(String),
    /// Not now.
    Busy(String),
    /// It could not be reached, or went away before anything was certain.
    Away(String),
    /// It went away when it was asked to make it certain.
    Unknown(String),
    /// Somebody has to do something first.
    Hold(String),
}

impl Fault {
    /// What becomes of a batch that ends with it.
    pub fn outcome(self) -> Outcome {
        match self {
            Fault::Row { why, .. } | Fault::Rows(why) => Outcome::Split(why),
            Fault::Table(why) | Fault::Hold(why) => Outcome::Hold(why),
            Fault::Busy(why) => Outcome::Again { after: None, counts: false, why },
            Fault::Away(why) => Outcome::Away(why),
            Fault::Unknown(why) => Outcome::Unknown(why),
        }
    }
}
