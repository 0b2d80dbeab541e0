//! What a filter expression may refer to outside itself.

use crate::filter::Filter;
use conf_syntax::FilterExpr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use template::{Scope, TemplateOptions};

/// Bytes of a file that a filter or a parser reads whole.
pub const FILE_BYTES_MAX: u64 = 1 << 30;

/// The configuration a filter is compiled in.
pub trait FilterEnv {
    /// Templates of the configuration, for the templates inside filters.
    fn scope(&self) -> &dyn Scope;

    /// The global template options; `version` decides the rules of comparisons.
    fn template_options(&self) -> &TemplateOptions;

    /// The expression of `filter NAME { ... };`.
    fn filter(&self, _name: &str) -> Option<&FilterExpr> {
        None
    }

    /// The names of all filter statements, to suggest one.
    fn filter_names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The compiled named filters of this configuration, so that each is compiled once.
    fn named_filters(&self) -> &NamedFilters;

    /// Reads a file that the configuration names, of at most [`FILE_BYTES_MAX`] bytes.
    fn read_file(&self, path: &str) -> std::io::Result<Vec<u8>> {
        regular::read(std::path::Path::new(path), FILE_BYTES_MAX)
    }
}

/// Named filters that were compiled already; kept by the [`FilterEnv`].
#[derive(Default)]
pub struct NamedFilters {
    filters: RefCell<HashMap<String, Progress>>,
}

#[derive(Clone)]
pub(crate) enum Progress {
    /// Being compiled further up: who asks now is part of a circle.
    Begun,
    Done(Arc<Filter>),
    /// Errors were reported.
    Failed,
}

impl NamedFilters {
    pub(crate) fn progress(&self, name: &str) -> Option<Progress> {
        self.filters.borrow().get(name).cloned()
    }

    pub(crate) fn set(&self, name: &str, progress: Progress) {
        self.filters.borrow_mut().insert(name.to_owned(), progress);
    }
}
