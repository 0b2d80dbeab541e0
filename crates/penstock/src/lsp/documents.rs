//! The texts that an editor has open, and what was read in them.

use super::words;
use crate::configuration::Configuration;
use conf_syntax::Statement;
use diag::{SourceMap, Span};
use engine::compile::{Existing, Plan};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, Location, Position, Range, TextDocumentPositionParams, Uri,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use template::Identity;

#[derive(Default)]
pub struct Documents {
    open: HashMap<String, Document>,
}

/// An open text.
pub struct Document {
    pub uri: Uri,
    pub version: Option<i32>,
    pub text: String,
    pub configuration: Configuration,
}

impl Documents {
    pub fn opened(&mut self, params: DidOpenTextDocumentParams) -> Uri {
        let document = params.text_document;
        self.put(document.uri, Some(document.version), document.text)
    }

    pub fn changed(&mut self, params: DidChangeTextDocumentParams) -> Uri {
        let document = params.text_document;
        // Whole texts were asked for.
        match params.content_changes.into_iter().next_back() {
            Some(change) => self.put(document.uri, Some(document.version), change.text),
            None => document.uri,
        }
    }

    /// What it includes may have changed.
    pub fn saved(&mut self, params: DidSaveTextDocumentParams) -> Uri {
        let uri = params.text_document.uri;
        match self.open.remove(uri.as_str()) {
            Some(document) => self.put(uri, document.version, document.text),
            None => uri,
        }
    }

    pub fn closed(&mut self, params: DidCloseTextDocumentParams) -> Uri {
        self.open.remove(params.text_document.uri.as_str());
        params.text_document.uri
    }

    fn put(&mut self, uri: Uri, version: Option<i32>, text: String) -> Uri {
        let configuration = read(&path_of(&uri), &text);
        let document = Document { uri: uri.clone(), version, text, configuration };
        self.open.insert(uri.as_str().to_owned(), document);
        uri
    }

    pub fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(uri.as_str())
    }

    /// The document of a question, and the byte that it is about.
    pub fn place(&self, at: &TextDocumentPositionParams) -> Option<(&Document, usize)> {
        let document = self.get(&at.text_document.uri)?;
        Some((document, words::offset(&document.text, at.position)))
    }
}

/// Reads a text as `check` does, but runs nothing: no commands, no Python.
fn read(path: &Path, text: &str) -> Configuration {
    let mut configuration = Configuration::read_passive(&path.display().to_string(), text);
    let is_python = |statement: &Statement| matches!(statement, Statement::Python(_));
    let runs_python = configuration.config().items.iter().any(is_python) || text.contains("python");
    if !runs_python {
        let plan: Option<Plan> = configuration.compile(&Identity::new("localhost"), &Existing::new());
        if let Some(plan) = plan {
            crate::check::lint(&mut configuration, &plan);
        }
    }
    configuration
}

impl Document {
    pub fn sources(&self) -> &SourceMap {
        &self.configuration.parsed.sources
    }

    pub fn path(&self) -> PathBuf {
        path_of(&self.uri)
    }

    /// Where a place of the configuration is in a file.
    pub fn location(&self, span: Span) -> Option<Location> {
        let real = self.sources().real(span);
        let file = self.sources().file(real.file)?;
        let range = range_in(&file.text, real);
        let own = self.path();
        let uri = match Path::new(&file.name) == own {
            true => self.uri.clone(),
            false => uri_of(&std::path::absolute(&file.name).ok()?)?,
        };
        Some(Location { uri, range })
    }

    /// The same, where it is in this text.
    pub fn own_range(&self, span: Span) -> Option<Range> {
        let location = self.location(span)?;
        (location.uri == self.uri).then_some(location.range)
    }
}

fn range_in(text: &str, span: Span) -> Range {
    let position = |at: u32| words::position(text, at as usize);
    Range { start: position(span.start), end: position(span.end) }
}

/// The whole of a text.
pub fn whole(text: &str) -> Range {
    Range { start: Position::default(), end: words::position(text, text.len()) }
}

/// `file:///etc/penstock/a%20b.conf`; another scheme is a path of its own.
pub fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let path = text.strip_prefix("file://").unwrap_or(text);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

pub fn uri_of(path: &Path) -> Option<Uri> {
    let mut text = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_one() {
        for path in ["/etc/penstock/relay.conf", "/tmp/a b/ä%.conf"] {
            let uri = uri_of(Path::new(path)).expect("an address");
            assert_eq!(path_of(&uri), Path::new(path), "{}", uri.as_str());
        }
    }
}
