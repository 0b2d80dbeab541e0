//! Why something was not done, by what follows from it.

use flight::Outcome;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
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

impl NotDone {
    /// What becomes of a batch that ends with it.
    pub fn outcome(self) -> Outcome {
        match self {
            NotDone::Row { why, .. } | NotDone::Rows(why) => Outcome::Split(why),
            NotDone::Table(why) | NotDone::Hold(why) => Outcome::Hold(why),
            NotDone::Busy(why) => Outcome::Again { after: None, counts: false, why },
            NotDone::Away(why) => Outcome::Away(why),
            NotDone::Unknown(why) => Outcome::Unknown(why),
        }
    }
}

/// An error with its causes.
pub fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = match error.downcast_ref::<std::io::Error>() {
            Some(error) => tls::said(error),
            None => error.to_string(),
        };
        if !text.contains(&inner) {
            text = format!("{text}: {inner}");
        }
        cause = error.source();
    }
    text
}
