//! What of a configuration every destination depends on, beside its own options.

use super::objects::Objects;
use conf_syntax::{Call, TemplateBody, TypedText};
use diag::SourceMap;
use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A destination stays over a reload only when nothing of it changed.
pub struct Fingerprint {
    /// What all destinations share.
    shared: String,
    /// The files that template functions were made from, each as it was.
    files: RefCell<Vec<String>>,
}

impl Fingerprint {
    pub fn of(objects: &Objects<'_>, texts: &SourceMap, chains_hostnames: bool) -> Fingerprint {
        Fingerprint { shared: shared(objects, texts, chains_hostnames), files: RefCell::default() }
    }

    pub fn made_from(&self, path: &Path) {
        let state = std::fs::metadata(path)
            .map(|found| format!("{}:{}:{}.{}", found.ino(), found.len(), found.mtime(), found.mtime_nsec()));
        self.files.borrow_mut().push(format!("{} {}", path.display(), state.unwrap_or_default()));
    }

    /// Files so far belong to templates with names, which all share.
    pub fn begins(&mut self) {
        for file in self.files.get_mut().drain(..) {
            self.shared.push('\n');
            self.shared.push_str(&file);
        }
    }

    /// A place among the files, for `since`.
    pub fn files_so_far(&self) -> usize {
        self.files.borrow().len()
    }

    /// What all share, and the files that were read from a place on, while a destination was built.
    pub fn since(&self, place: usize) -> String {
        let files = self.files.borrow();
        let own = files.iter().skip(place);
        std::iter::once(&self.shared).chain(own).map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Global options and templates with names in backticks replaced, and what HOST means.
fn shared(objects: &Objects<'_>, texts: &SourceMap, chains_hostnames: bool) -> String {
    let options = objects.options.iter().map(|call| call.canonical());
    let templates = objects.templates.values().map(|t| format!("{}{}", t.name.text, body(&t.body)));
    let functions = objects.functions.values().map(|f| format!("{}{}", f.name.text, typed(&f.text)));
    let chains = if chains_hostnames { "chain-hostnames" } else { "" };
    let all = templates.chain(functions).chain(options).chain([chains.to_owned()]);
    #[cfg(not(feature = "python"))]
    let _ = texts;
    #[cfg(feature = "python")]
    let all = all.chain(objects.python.iter().map(|block| texts.text(block.span).to_owned()));
    all.collect::<Vec<_>>().join("\n")
}

/// A template as it is, names in backticks replaced.
fn body(body: &TemplateBody) -> String {
    match body {
        TemplateBody::Text(text) => typed(text),
        TemplateBody::Options(calls) => calls.iter().map(Call::canonical).collect(),
    }
}

fn typed(text: &TypedText) -> String {
    let hint = text.type_hint.as_ref().map_or("", |hint| hint.text.as_str());
    format!("{hint}({})", text.text)
}
