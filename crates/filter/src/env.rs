//! What a filter expression may refer to outside itself.

use crate::called::Tally;
use crate::filter::Filter;
use conf_syntax::FilterExpr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
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

    /// Where it is counted what became of messages at a named filter that another one calls; nowhere when
    /// nobody wants to know.
    fn tally(&self, _name: &str) -> Option<Arc<dyn Tally>> {
        None
    }

    /// The folder of the configuration, when it is a file.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Where a file of data that the configuration names is. A relative path is looked for in the
    /// configuration's folder, as in syslog-ng, then in the working directory; one that is in neither is
    /// expected in the first.
    fn data_file(&self, path: &str) -> PathBuf {
        let named = PathBuf::from(path);
        match self.folder() {
            Some(folder) if named.is_relative() => {
                let beside = folder.join(&named);
                if !beside.exists() && named.exists() { named } else { beside }
            }
            _ => named,
        }
    }

    /// Reads a file of data, of at most [`FILE_BYTES_MAX`] bytes. The error says where it was looked for.
    fn read_file(&self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.data_file(path);
        regular::read(&found, FILE_BYTES_MAX).map_err(|error| {
            if error.kind() != io::ErrorKind::NotFound
                || Path::new(path).is_absolute()
                || self.folder().is_none()
            {
                return error;
            }
            let here = std::env::current_dir().unwrap_or_default().join(path);
            let text = format!("{error}; looked for {} and {}", found.display(), here.display());
            io::Error::new(error.kind(), text)
        })
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
