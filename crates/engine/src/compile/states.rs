//! Parsers that keep messages: each place of a log path where one stands has contexts of its own, and after a reload those it had.

use super::paths::Paths;
use crate::program::Node;
use std::sync::Arc;

impl Paths<'_, '_> {
    /// Gives the parsers among the nodes of a finished log path their contexts. All sources that feed the path share them.
    pub fn give_states(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            match node {
                Node::Parse(step) => {
                    let Some(own) = step.parser.state() else { continue };
                    let mut number = 0;
                    let key = loop {
                        let key = format!("{}#{number}", own.key());
                        if !self.states.contains_key(&key) {
                            break key;
                        }
                        number += 1;
                    };
                    if let Some(parser) = step.parser.with_state(self.existing.states.get(&key).cloned()) {
                        step.parser = parser;
                    }
                    if let Some(state) = step.parser.state() {
                        self.states.insert(key, Arc::clone(&state));
                    }
                }
                Node::Fork(branches) | Node::Join(branches) => {
                    branches.list.iter_mut().for_each(|branch| self.give_states(&mut branch.nodes));
                }
                _ => {}
            }
        }
    }
}
