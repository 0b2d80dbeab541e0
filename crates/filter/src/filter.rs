//! The compiled filter and what can be asked of it.

use crate::called::{self, Called};
use crate::compile;
use crate::context::{FilterContext, Workspace};
use crate::env::FilterEnv;
use crate::matcher::Matcher;
use crate::node::Node;
use crate::subject::Subject;
use crate::written::{Witness, Written};
use conf_syntax::FilterExpr;
use diag::{Diagnostics, Span};
use pattern::Pattern;
use record::{Batch, Demand, NameId, Record};
use std::cell::RefCell;
use std::sync::Arc;
use template::{Condition, Msg, RenderContext};

/// A compiled filter expression. Shared by all workers; each brings its [`FilterContext`].
pub struct Filter {
    node: Node,
    written: Written,
    pure: bool,
    stores: bool,
}

impl Filter {
    /// Reports everything wrong with the expression; `None` when there was an error.
    pub fn compile(expr: &FilterExpr, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Filter> {
        compile::expression(expr, env, diags).map(|(node, written)| Filter::new(node, written))
    }

    /// The filter of `filter NAME { ... };`, compiled once. An error in it is reported once, a wrong name
    /// each time; `at` is where the name stands.
    pub fn named(name: &str, at: Span, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Arc<Filter>> {
        compile::named(name, at, env, diags)
    }

    pub(crate) fn new(node: Node, written: Written) -> Filter {
        let (pure, stores) = (node.is_pure(), node.stores());
        Filter { node, written, pure, stores }
    }

    /// Holds for messages of which a value is matched by one of the patterns. Stores no matches.
    pub fn of_patterns(name: NameId, patterns: &[Arc<Pattern>]) -> Filter {
        let one = |pattern: &Arc<Pattern>| {
            Node::Match(Arc::new(Matcher::new(Subject::of_name(name), Arc::clone(pattern), None)))
        };
        let nodes: Vec<Node> = patterns.iter().map(one).collect();
        let written = nodes.iter().map(|node| Written::Call("match", node.clone(), Box::default()));
        let written = Written::Or(written.collect());
        Filter::new(Node::Or(nodes), written)
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Leaves in `selection` (indices of the batch's records) those that match, in their order.
    pub fn select(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        self.node.narrow(batch, selection, &mut cx.work, &mut cx.render);
    }

    /// Whether a record matches, told condition by condition, in the order of the text; stores its matches.
    /// Costs far more than
    /// [`Filter::select`]: for messages that somebody wants explained.
    pub fn judge(
        &self,
        batch: &mut Batch,
        index: usize,
        cx: &mut FilterContext,
        witness: &mut Witness<'_>,
    ) -> bool {
        self.written.judge(batch, index, cx, witness)
    }

    /// Whether one record matches; stores its matches.
    pub fn matches(&self, batch: &mut Batch, index: usize, cx: &mut FilterContext) -> bool {
        if self.stores {
            let mut selection = cx.work.selection();
            selection.extend(u32::try_from(index));
            self.select(batch, &mut selection, cx);
            let found = !selection.is_empty();
            cx.work.keep_selection(selection);
            return found;
        }
        match batch.records.get(index) {
            Some(record) => self.holds_for(batch, record, cx),
            None => false,
        }
    }

    /// Whether a message matches, without storing matches.
    pub fn holds_for(&self, batch: &Batch, record: &Record, cx: &mut FilterContext) -> bool {
        self.node.holds(batch, record, &mut cx.work, &mut cx.render)
    }

    /// The outcome, where no message is needed to know it.
    pub fn constant(&self) -> Option<bool> {
        match self.node {
            Node::Always(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Asking stores matches of patterns.
    pub fn stores(&self) -> bool {
        self.stores
    }

    /// Asking leaves no trace: no matches stored, no tokens of a rate limit taken, no called filter counted.
    pub fn is_pure(&self) -> bool {
        self.pure
    }

    /// The call of a named filter that is counted for each message the filter is asked about, where that is
    /// the only trace it leaves.
    pub fn counted_call(&self) -> Option<&Arc<Called>> {
        if self.pure { None } else { called::leading(&self.node) }
    }

    /// Its calls of named filters that are counted where it does not hold, each once; `None` where that
    /// cannot be said, or is no gain.
    pub fn refused_calls(&self) -> Option<Vec<Arc<Called>>> {
        if self.pure { None } else { called::alternatives(&self.node) }
    }

    /// Adds what it looks at.
    pub fn reads(&self, demand: &mut Demand) {
        self.node.reads(demand);
    }

    /// The values it may set: matches of patterns with store-matches.
    pub fn writes(&self) -> Vec<NameId> {
        let mut names = Vec::new();
        self.node.each_matcher(&mut |matcher| {
            if let Some(groups) = &matcher.store {
                names.extend((0..groups.len()).filter_map(|n| u8::try_from(n).ok()).map(NameId::of_match));
                names.extend(groups.iter().flatten());
            }
        });
        names.sort_unstable();
        names.dedup();
        names
    }

    /// How each pattern is matched, for `check --explain`.
    pub fn explain(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.node
            .each_matcher(&mut |m| lines.push(format!("{:?}: {}", m.pattern.text(), m.pattern.engine())));
        lines
    }
}

thread_local! {
    /// `$(if)` has only the context of templates: the workspaces of its conditions are kept here, one for
    /// each level of nesting.
    // They are large, and moved for each condition.
    #[allow(clippy::vec_box)]
    static WORKSPACES: RefCell<Vec<Box<Workspace>>> = const { RefCell::new(Vec::new()) };
}

/// Counts what filters called by conditions of templates have decided on this thread; once a batch.
pub(crate) fn settle_conditions() {
    WORKSPACES.with(|all| all.borrow_mut().iter_mut().for_each(|work| work.tallied.settle()));
}

impl Condition for Filter {
    fn holds(&self, msg: Msg<'_>, cx: &mut RenderContext) -> bool {
        let mut work = WORKSPACES.with(|w| w.borrow_mut().pop()).unwrap_or_default();
        let result = self.node.holds(msg.batch, msg.record, &mut work, cx);
        WORKSPACES.with(|w| w.borrow_mut().push(work));
        result
    }

    fn reads(&self, demand: &mut Demand) {
        Filter::reads(self, demand);
    }

    fn constant(&self) -> Option<bool> {
        match self.node {
            Node::Always(holds) => Some(holds),
            _ => None,
        }
    }
}
