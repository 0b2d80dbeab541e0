//! What a template may refer to outside itself: other templates of the configuration and filter expressions.

use crate::{Msg, RenderContext, Template};
use record::Demand;
use std::sync::Arc;

/// The names a configuration has defined.
pub trait Scope {
    /// `template NAME { ... };`
    fn template(&self, _name: &str) -> Option<Arc<Template>> {
        None
    }

    /// `template-function NAME "TEXT";`, called as `$(NAME)`.
    fn function(&self, _name: &str) -> Option<Arc<Template>> {
        None
    }

    /// Compiles the filter expression of `$(if 'EXPRESSION' ...)`.
    fn condition(&self, _text: &str) -> Result<Arc<dyn Condition>, String> {
        Err("filter expressions cannot be used here".to_owned())
    }
}

/// A compiled filter expression.
pub trait Condition: Send + Sync {
    fn holds(&self, msg: Msg<'_>, cx: &mut RenderContext) -> bool;

    /// What the expression looks at.
    fn reads(&self, demand: &mut Demand);
}

/// A scope in which nothing is defined.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoScope;

impl Scope for NoScope {}
