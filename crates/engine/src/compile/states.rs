//! Parsers that keep messages: each place of a log path where one stands has contexts of its own, and after a
//! reload those it had.

use super::paths::Paths;
use crate::program::{Op, Step};
use std::sync::Arc;

impl Paths<'_, '_> {
    /// Gives the parsers among the steps of a finished log path their contexts. All sources that feed the
    /// path share them.
    pub fn give_states(&mut self, steps: &mut [Step]) {
        for step in steps {
            match &mut step.op {
                Op::Parse(parse) => {
                    let Some(own) = parse.parser.state() else { continue };
                    let mut number = 0;
                    let key = loop {
                        let key = format!("{}#{number}", own.key());
                        if !self.states.contains_key(&key) {
                            break key;
                        }
                        number += 1;
                    };
                    if let Some(parser) = parse.parser.with_state(self.existing.states.get(&key).cloned()) {
                        parse.parser = parser;
                    }
                    if let Some(state) = parse.parser.state() {
                        self.states.insert(key, Arc::clone(&state));
                    }
                }
                Op::Fork(branches) | Op::Join(branches) => {
                    branches.list.iter_mut().for_each(|branch| self.give_states(&mut branch.steps));
                }
                _ => {}
            }
        }
    }
}
