//! Which of the values a database could set are stored: those something reads.

use super::compiled::{Compiled, Target};
use record::{Demand, NameId};
use std::sync::Arc;
use template::Template;

/// Set one after the other.
pub type Values = Box<[(NameId, Arc<Template>)]>;

pub struct Plan {
    pub compiled: Arc<Compiled>,
    pub class: bool,
    pub rule_id: bool,
    pub context_id: bool,
    pub program_names: Vec<Target>,
    pub names: Vec<Box<[Target]>>,
    /// By rule.
    pub values: Vec<Values>,
    pub any_program_name: bool,
}

impl Plan {
    pub fn new(compiled: Arc<Compiled>, demand: Option<&Demand>) -> Plan {
        // Fields have a place in each record, so they are always set.
        let field = |name: NameId| name.0 >= NameId::HOST.0 && name.0 <= NameId::FILE_NAME.0;
        let read = |name: NameId| match demand {
            None => true,
            Some(demand) => {
                demand.everything
                    || demand.names.contains(&name)
                    || field(name)
                    || demand.sdata && name.is_sdata()
            }
        };
        let only = |names: &[Target]| -> Vec<Target> {
            names.iter().map(|n| n.filter(|(name, _)| read(*name))).collect()
        };
        let values = |work: &super::work::Work| {
            work.values.iter().filter(|(name, _)| read(*name)).cloned().collect::<Box<[_]>>()
        };
        let program_names = only(&compiled.program_names);
        Plan {
            class: read(compiled.class),
            rule_id: read(compiled.rule_id),
            context_id: read(compiled.context_id),
            any_program_name: program_names.iter().any(Option::is_some),
            names: compiled.names.iter().map(|names| only(names).into()).collect(),
            values: compiled.work.iter().map(values).collect(),
            program_names,
            compiled,
        }
    }
}
