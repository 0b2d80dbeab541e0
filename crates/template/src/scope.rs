//! What a template may refer to outside itself: other templates of the configuration and filter expressions.

use crate::{Msg, RenderContext, Template};
use record::Demand;
use std::path::Path;
use std::sync::Arc;
pub use transport::{DnsOptions, NameUse};

/// The global options of names of addresses.
#[derive(Clone, Debug, Default)]
pub struct NameOptions {
    pub use_dns: NameUse,
    pub use_fqdn: bool,
    pub normalize_hostnames: bool,
    pub dns: DnsOptions,
}

/// The names a configuration has defined.
pub trait Scope {
    /// `template NAME { ... };`
    fn template(&self, _name: &str) -> Option<Arc<Template>> {
        None
    }

    /// The names of all templates, for `$(template ${NAME})`, which finds its template when a message is
    /// there.
    fn template_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// `template-function NAME "TEXT";`, called as `$(NAME)`.
    fn function(&self, _name: &str) -> Option<Arc<Template>> {
        None
    }

    /// How `$(dns-resolve-ip)` finds names unless it is told.
    fn names(&self) -> NameOptions {
        NameOptions::default()
    }

    /// Takes something that only one part of the configuration may have, the key of a sealed log; says who
    /// has it, when that is another one.
    fn claim(&self, _what: &Path, _by: &str) -> Option<String> {
        None
    }

    /// The processes that run the Python of this configuration. The error says why there are none.
    #[cfg(feature = "python")]
    fn python(&self) -> Result<Arc<python::Pool>, String> {
        Err("Python cannot be used here".to_owned())
    }

    /// Told of each file that a function was made from: it is read when the configuration is, and not again.
    fn made_from(&self, _path: &Path) {}

    /// Told of each name a template reads that is no macro, so that it has to be set by something.
    fn reads(&self, _name: &str) {}

    /// Told by whoever sets values with names that begin so, but for parsers and rewrite operations, which
    /// can be asked.
    fn sets(&self, _prefix: &str) {}

    /// Whether some source may set [`record::Flags::CHAINED`]. Where none does, HOST is a plain field.
    fn chains_hostnames(&self) -> bool {
        false
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

    /// Its outcome where that is the same for every message.
    fn constant(&self) -> Option<bool> {
        None
    }
}

/// A scope in which nothing is defined.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoScope;

impl Scope for NoScope {}
