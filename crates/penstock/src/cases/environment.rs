//! What cases say of the environment: variables that are set or unset, whatever the command itself has.

use super::read::{Case, CaseFile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;

/// A variable in a file of cases: its text, or `false` for one that is not there.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a text, or false for a variable that is not set")]
pub enum Variable {
    Text(String),
    Set(bool),
}

/// The variables as they stand in a file or a case.
pub type Variables = BTreeMap<String, Variable>;

/// How an environment differs from that of the command; None: the variable is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Environment(pub BTreeMap<String, Option<String>>);

impl Environment {
    /// That of a case: what its file says, then what it says itself.
    pub fn of(file: &CaseFile, case: &Case) -> Environment {
        let all = file.environment.iter().chain(&case.environment);
        let changed = |(name, variable): (&String, &Variable)| {
            let text = match variable {
                Variable::Text(text) => Some(text.clone()),
                Variable::Set(_) => None,
            };
            (name.clone(), text)
        };
        Environment(all.map(changed).collect())
    }

    /// That of the command itself.
    pub fn is_own(&self) -> bool {
        self.0.is_empty()
    }

    pub fn give(&self, command: &mut Command) {
        for (name, value) in &self.0 {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { ", " };
            match value {
                Some(value) => write!(f, "{before}{name}={value:?}")?,
                None => write!(f, "{before}{name} not set")?,
            }
        }
        Ok(())
    }
}

/// Whether these can be variables of a process.
pub fn check(variables: &Variables) -> Result<(), String> {
    for (name, variable) in variables {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("environment: {name:?} cannot be the name of a variable"));
        }
        match variable {
            Variable::Text(text) if text.contains('\0') => {
                return Err(format!("environment: the value of `{name}` has a zero byte"));
            }
            Variable::Set(true) => {
                return Err(format!(
                    "environment: `{name}` needs a text, or false for a variable that is not set"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}
