//! `vars()`.

use crate::program::{Of, Operation};
use crate::run::{Eval, Run, State};
use record::{NameId, name_of};
use value::Value;

/// The variable of a block that is held by a name.
fn block_variable(name: NameId) -> Option<&'static str> {
    // No name of the message has a brace in it.
    name_of(name).strip_prefix('}')
}

/// Whether what a message holds by a name is a variable of blocks.
pub fn is_block_variable(name: NameId) -> bool {
    block_variable(name).is_some()
}

pub(super) struct Vars {
    pub without_message: bool,
}

impl Operation for Vars {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let dict = run.new_dict()?;
        let declared: Vec<(NameId, Option<Value>)> = match run.batch.records.get(run.index) {
            Some(record) => run.batch.all_held(record).collect(),
            None => Vec::new(),
        };
        let mut seen: Vec<NameId> = Vec::new();
        for (name, value) in declared {
            let known = run.variables.iter().any(|v| v.of == Of::Block(name)) || seen.contains(&name);
            let Some(text) = block_variable(name).filter(|_| !known) else { continue };
            seen.push(name);
            // A text that is no value of its type is left out.
            if let Some(Ok(value)) = value.map(|value| run.looked_into(value)) {
                run.trees().share(value);
                run.set_text(dict, text.as_bytes(), value)?;
            }
        }
        for number in 0..run.variables.len() {
            let Some(variable) = run.variables.get(number) else { break };
            if self.without_message && matches!(variable.of, Of::Message(_)) {
                continue;
            }
            if matches!(variable.of, Of::Block(_)) {
                run.is_set(number as u32)?;
            }
            if run.memory.slots.get(number).is_some_and(|slot| slot.state == State::Set) {
                let Ok(value) = run.variable(number as u32) else { continue };
                run.trees().share(value);
                run.set_text(dict, variable.name.as_bytes(), value)?;
            }
        }
        Ok(Value::Dict(dict))
    }
}
