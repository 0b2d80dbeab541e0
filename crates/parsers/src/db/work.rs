//! What a rule does with a message it matched, compiled.

use crate::correlation::{Scope, Synthetic};
use patterndb::model::{Rate, Trigger};
use record::{Demand, NameId, TagId};
use std::sync::Arc;
use template::{Condition, Template};

pub struct Work {
    /// Those of the rule, and the one of its class.
    pub tags: Vec<TagId>,
    /// Set one after the other: later ones see earlier ones.
    pub values: Vec<(NameId, Arc<Template>)>,
    pub keeping: Option<Arc<Keeping>>,
}

/// Contexts and actions of a rule. Contexts hold on to it, also when the database changes.
pub struct Keeping {
    pub context: Option<ContextWork>,
    /// Rates are counted for what it says.
    pub scope: Scope,
    pub actions: Vec<ActionWork>,
    /// Its id.
    pub rule: Box<str>,
}

pub struct ContextWork {
    pub id: Template,
    pub scope: Scope,
    /// 0: it is never closed by time.
    pub timeout_s: i64,
}

pub struct ActionWork {
    pub condition: Option<Arc<dyn Condition>>,
    pub rate: Option<Rate>,
    /// Among the rule's actions.
    pub number: u32,
    pub trigger: Trigger,
    pub message: Synthetic,
    pub what: What,
}

pub enum What {
    Message,
    Create(Box<ContextWork>),
}

impl Work {
    pub fn reads(&self, demand: &mut Demand) {
        self.values.iter().for_each(|(_, template)| template.reads(demand));
        let Some(keeping) = &self.keeping else { return };
        keeping.context.iter().for_each(|context| context.reads(demand));
        if keeping.actions.iter().any(|action| action.rate.is_some()) {
            keeping.scope.reads(demand);
        }
        for action in &keeping.actions {
            action.condition.iter().for_each(|condition| condition.reads(demand));
            action.message.reads(demand);
            if let What::Create(context) = &action.what {
                context.reads(demand);
            }
        }
    }
}

impl ContextWork {
    fn reads(&self, demand: &mut Demand) {
        self.id.reads(demand);
        self.scope.reads(demand);
    }
}
