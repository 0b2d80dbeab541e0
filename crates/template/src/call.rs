//! A call of a template function while it is compiled: options split off, arguments counted, each compiled on
//! request.

use crate::compile::Compiler;
use crate::function::{Function, FunctionInfo};
use crate::syntax::Text;
use crate::{Condition, Template, TemplateError, TemplateOptions};
use std::sync::Arc;

/// A call being compiled, as the functions' builders see it.
pub(crate) struct Call<'a> {
    pub info: &'static FunctionInfo,
    offset: usize,
    options: Vec<(&'static str, Option<Text>)>,
    args: Vec<Text>,
    pub compiler: Compiler<'a>,
    /// Whether entries of a sealed log may stand where it stands.
    pub may_seal: bool,
}

impl<'a> Call<'a> {
    pub fn new(
        info: &'static FunctionInfo,
        offset: usize,
        args: Vec<Text>,
        mut compiler: Compiler<'a>,
    ) -> Result<Call<'a>, TemplateError> {
        // An entry that another function changes could never be opened.
        let may_seal = compiler.may_seal;
        compiler.may_seal = false;
        let mut call = Call { info, offset, options: Vec::new(), args, compiler, may_seal };
        call.take_options()?;
        call.check_arity()?;
        Ok(call)
    }

    pub fn arg_offset(&self, index: usize) -> usize {
        self.args.get(index).map_or(self.offset, |arg| arg.offset(0))
    }

    pub fn error(&self, index: usize, message: impl Into<String>) -> TemplateError {
        TemplateError::new(self.arg_offset(index), message)
            .help(format!("usage: $({} {})", self.info.name, self.info.usage))
    }

    /// Splits the declared options off the front; `--` ends them.
    fn take_options(&mut self) -> Result<(), TemplateError> {
        if self.info.options.is_empty() {
            return Ok(());
        }
        while let Some(word) =
            self.args.first().map(Text::lossy).filter(|w| w.len() > 1 && w.starts_with('-'))
        {
            if word == "--" {
                self.args.remove(0);
                break;
            }
            let (name, inline) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((name, value)) => (name.to_owned(), Some(Text::of(value))),
                None => (word, None),
            };
            let known = self.info.options.iter().find(|(n, _)| *n == name);
            let Some((known, takes_value)) = known else {
                return Err(self.error(0, format!("$({}) has no option `{name}`", self.info.name)));
            };
            let word = self.args.remove(0);
            let value = match (takes_value, inline) {
                (true, Some(value)) => Some(value),
                (true, None) if !self.args.is_empty() => Some(self.args.remove(0)),
                (true, None) => {
                    return Err(TemplateError::new(
                        word.offset(0),
                        format!("the option `{known}` needs a value"),
                    ));
                }
                (false, _) => None,
            };
            self.options.push((known, value));
        }
        Ok(())
    }

    fn check_arity(&self) -> Result<(), TemplateError> {
        let ((least, most), count) = (self.info.arity, self.args.len());
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let wants = match (least, most) {
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => format!("{least}"),
            (least, most) => format!("{least} to {most}"),
        };
        Err(TemplateError::new(
            self.offset,
            format!("$({}) takes {wants} arguments, not {count}", self.info.name),
        )
        .help(format!("usage: $({} {})", self.info.name, self.info.usage)))
    }

    pub fn options(&self) -> &TemplateOptions {
        self.compiler.opts
    }

    pub fn count(&self) -> usize {
        self.args.len()
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| *name == option)
    }

    pub fn option(&self, option: &str) -> Option<String> {
        self.options.iter().rfind(|(name, _)| *name == option)?.1.as_ref().map(Text::lossy)
    }

    /// The arguments as written, for functions that take options anywhere.
    pub fn words(&self) -> &[Text] {
        &self.args
    }

    /// An argument's text as written.
    pub fn text(&self, index: usize) -> String {
        self.args.get(index).map(Text::lossy).unwrap_or_default()
    }

    /// An argument that must not depend on a message.
    pub fn literal(&self, index: usize, what: &str) -> Result<String, TemplateError> {
        let template = self.template(index)?;
        match template.literal() {
            Some(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            None => Err(self.error(index, format!("{what} has to be fixed text, without macros"))),
        }
    }

    pub fn template(&self, index: usize) -> Result<Template, TemplateError> {
        match self.args.get(index) {
            Some(arg) => self.compiler.compile(arg),
            None => self.compiler.compile(&Text::default()),
        }
    }

    pub fn templates(&self, from: usize) -> Result<Box<[Template]>, TemplateError> {
        self.args.iter().skip(from).map(|arg| self.compiler.compile(arg)).collect()
    }

    pub fn condition(&self, index: usize) -> Result<Arc<dyn Condition>, TemplateError> {
        let text = self.text(index);
        self.compiler.scope.condition(&text).map_err(|message| {
            TemplateError::new(
                self.arg_offset(index),
                format!("in the condition of $({}): {message}", self.info.name),
            )
        })
    }

    /// What is made is made from a file, which is read now and not again.
    pub fn made_from(&self, path: &std::path::Path) {
        self.compiler.scope.made_from(path);
    }

    pub fn boxed<F: Function + 'static>(&self, function: F) -> Result<Box<dyn Function>, TemplateError> {
        Ok(Box::new(function))
    }
}
