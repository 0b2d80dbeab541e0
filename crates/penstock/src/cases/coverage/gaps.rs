//! What no case has taken of a step, in words.

use super::{Counts, Row};
use engine::watch::Kind;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gap {
    NeverReached,
    NeverHolds,
    AlwaysHolds,
    NeverParses,
    NeverFails,
    /// Of a rewrite.
    ConditionNeverHolds,
}

impl Gap {
    pub fn of(kind: Kind, counts: Counts) -> Option<Gap> {
        if counts.entered == 0 {
            return Some(Gap::NeverReached);
        }
        match kind {
            Kind::Filter if counts.passed == 0 => Some(Gap::NeverHolds),
            Kind::Filter if counts.stopped == 0 => Some(Gap::AlwaysHolds),
            Kind::Parser if counts.passed == 0 => Some(Gap::NeverParses),
            Kind::Parser if counts.stopped == 0 => Some(Gap::NeverFails),
            Kind::Rewrite if counts.passed == 0 => Some(Gap::ConditionNeverHolds),
            _ => None,
        }
    }

    /// What is left when both have been.
    pub fn of_both(one: &Row, other: &Row) -> Option<Gap> {
        match (one.gap, other.gap) {
            (Some(one), Some(other)) if one == other => Some(one),
            _ if one.counts.entered == 0 => other.gap,
            _ if other.counts.entered == 0 => one.gap,
            // They fill each other's.
            _ => None,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Gap::NeverReached => "never reached",
            Gap::NeverHolds => "never holds",
            Gap::AlwaysHolds => "always holds",
            Gap::NeverParses => "never parses",
            Gap::NeverFails => "never fails",
            Gap::ConditionNeverHolds => "its condition never holds",
        }
    }
}
