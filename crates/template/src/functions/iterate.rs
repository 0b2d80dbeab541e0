//! `$(iterate TEMPLATE INITIAL)`: what TEMPLATE makes of the result before.

use crate::call::Call;
use crate::function::{Build, Function, FunctionInfo};
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, ValueType};
use std::sync::{Mutex, PoisonError};

pub(super) const FUNCTIONS: &[FunctionInfo] = &[FunctionInfo {
    name: "iterate",
    usage: "TEMPLATE INITIAL",
    help: "prints INITIAL for the first message; for each later one what TEMPLATE makes of the text before, which is $_ in it. All \
           workers share the text, so each message takes a lock",
    arity: (2, 2),
    options: &[],
    build: Build::Special(build),
    example: ("$(iterate '$_' 5)", "5"),
    cost: Cost::of("a lock that all workers share: the one function that does not scale with the cores"),
}];

struct Iterate {
    template: Template,
    /// The text for the next message. One for all workers: the order of messages is that of the lock.
    next: Mutex<Vec<u8>>,
}

fn build(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let initial = call.literal(1, "the first text")?;
    call.boxed(Iterate { template: call.template(0)?, next: Mutex::new(initial.into_bytes()) })
}

impl Function for Iterate {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let mut scratch = cx.take_scratch();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        out.extend_from_slice(&next);
        let outer = cx.item.replace(std::mem::take(&mut *next));
        self.template.render(msg, cx, &mut scratch.text);
        let used = std::mem::replace(&mut cx.item, outer);
        *next = used.unwrap_or_default();
        std::mem::swap(&mut *next, &mut scratch.text);
        drop(next);
        cx.put_back(scratch);
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.template.reads(demand);
    }
}
