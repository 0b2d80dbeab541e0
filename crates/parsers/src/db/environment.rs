//! What templates and conditions of a database may refer to: nothing of the configuration, so that a file can
//! be read again while the program runs.

use filter::{FilterEnv, NamedFilters, compile_condition};
use std::sync::Arc;
use template::{Condition, Scope, TemplateOptions};

pub struct Environment {
    pub options: TemplateOptions,
    named: NamedFilters,
}

impl Environment {
    pub fn new(options: &TemplateOptions) -> Environment {
        Environment { options: options.clone(), named: NamedFilters::default() }
    }
}

impl FilterEnv for Environment {
    fn scope(&self) -> &dyn Scope {
        self
    }

    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }

    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
}

impl Scope for Environment {
    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        compile_condition(text, self)
    }
}
