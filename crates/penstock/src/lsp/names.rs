//! Names of statements: where each is defined, where it is used, and what it is called from now on.

use super::documents::{Document, Documents};
use super::words;
use conf_syntax::{Call, Config, LogItem, LogPath, Name, ObjectKind, Statement, Visit};
use diag::Span;
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams,
    GotoDefinitionResponse, Location, PrepareRenameResponse, ReferenceParams, RenameParams, SymbolKind,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Source,
    Destination,
    Filter,
    Parser,
    Rewrite,
    Template,
}

impl From<ObjectKind> for Kind {
    fn from(kind: ObjectKind) -> Kind {
        match kind {
            ObjectKind::Source => Kind::Source,
            ObjectKind::Destination => Kind::Destination,
            ObjectKind::Filter => Kind::Filter,
            ObjectKind::Parser => Kind::Parser,
            ObjectKind::Rewrite => Kind::Rewrite,
        }
    }
}

/// A place where a name stands.
struct Mention {
    kind: Kind,
    name: String,
    /// Of the name; in quotes, with these.
    span: Span,
    /// Of the whole statement, where the name is defined.
    statement: Option<Span>,
}

/// All names of a configuration.
pub struct Names {
    mentions: Vec<Mention>,
}

impl Names {
    pub fn of(document: &Document) -> Names {
        let config = document.configuration.config();
        let mut names = Names { mentions: Vec::new() };
        names.defined_in(config);
        for statement in &config.items {
            match statement {
                Statement::Log(path) => names.path(path),
                Statement::Source(o)
                | Statement::Destination(o)
                | Statement::Parser(o)
                | Statement::Rewrite(o) => {
                    names.items(&o.body);
                }
                _ => {}
            }
        }
        let templates: Vec<String> = names.defined(Kind::Template).map(str::to_owned).collect();
        config.visit(&mut Calls { names: &mut names, templates });
        names
    }

    fn defined_in(&mut self, config: &Config) {
        for statement in &config.items {
            let (kind, name) = match statement {
                Statement::Source(o) => (Kind::Source, &o.name),
                Statement::Destination(o) => (Kind::Destination, &o.name),
                Statement::Parser(o) => (Kind::Parser, &o.name),
                Statement::Rewrite(o) => (Kind::Rewrite, &o.name),
                Statement::Filter(o) => (Kind::Filter, &o.name),
                Statement::Template(o) => (Kind::Template, &o.name),
                _ => continue,
            };
            self.add(kind, name, Some(statement.span()));
        }
    }

    fn add(&mut self, kind: Kind, name: &Name, statement: Option<Span>) {
        self.mentions.push(Mention { kind, name: name.text.clone(), span: name.span, statement });
    }

    fn path(&mut self, path: &LogPath) {
        self.items(&path.items);
    }

    fn items(&mut self, items: &[LogItem]) {
        for item in items {
            match item {
                LogItem::Reference(reference) => self.add(reference.kind.into(), &reference.name, None),
                LogItem::Inline(inline) => self.items(&inline.body),
                LogItem::Junction(branches, _) => self.items(branches),
                LogItem::Channel(path) | LogItem::Log(path) => self.path(path),
                LogItem::If(choice) => {
                    choice
                        .branches
                        .iter()
                        .map(|branch| &branch.body)
                        .chain(&choice.otherwise)
                        .for_each(|path| self.path(path));
                }
                _ => {}
            }
        }
    }

    /// Names that statements of a kind have.
    pub fn defined(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let defined =
            self.mentions.iter().filter(move |mention| mention.kind == kind && mention.statement.is_some());
        defined.map(|mention| mention.name.as_str())
    }

    /// The name at a byte of a document.
    pub fn at(&self, document: &Document, offset: usize) -> Option<(Kind, String)> {
        let position = words::position(&document.text, offset);
        let is_here = |mention: &&Mention| {
            document
                .own_range(mention.span)
                .is_some_and(|range| range.start <= position && position <= range.end)
        };
        self.mentions.iter().find(is_here).map(|mention| (mention.kind, mention.name.clone()))
    }

    /// The statement that defines a name.
    pub fn statement(&self, kind: Kind, name: &str) -> Option<Span> {
        self.all(kind, name).find_map(|mention| mention.statement)
    }

    fn all(&self, kind: Kind, name: &str) -> impl Iterator<Item = &Mention> {
        self.mentions.iter().filter(move |mention| mention.kind == kind && mention.name == name)
    }
}

/// Names that stand in brackets of calls: `filter(f)` in conditions, `template(t)` of drivers.
struct Calls<'n> {
    names: &'n mut Names,
    templates: Vec<String>,
}

impl Visit for Calls<'_> {
    fn call(&mut self, call: &Call) {
        let [arg] = call.args.as_slice() else { return };
        let Some(text) = arg.text() else { return };
        let kind = if call.is("filter") {
            Kind::Filter
        } else if call.is("template") && self.templates.iter().any(|known| known == text) {
            Kind::Template
        } else {
            return;
        };
        self.names.mentions.push(Mention { kind, name: text.to_owned(), span: arg.span, statement: None });
    }
}

/// The names of a document, and the one that a question is about.
fn asked<'d>(
    documents: &'d Documents,
    at: &TextDocumentPositionParams,
) -> Option<(&'d Document, Names, (Kind, String))> {
    let (document, offset) = documents.place(at)?;
    let names = Names::of(document);
    let meant = names.at(document, offset)?;
    Some((document, names, meant))
}

pub fn definition(documents: &Documents, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let (document, names, (kind, name)) = asked(documents, &params.text_document_position_params)?;
    let defined = names.all(kind, &name).find(|mention| mention.statement.is_some())?;
    document.location(defined.span).map(GotoDefinitionResponse::Scalar)
}

pub fn references(documents: &Documents, params: &ReferenceParams) -> Option<Vec<Location>> {
    let (document, names, (kind, name)) = asked(documents, &params.text_document_position)?;
    let wanted =
        names.all(kind, &name).filter(|m| m.statement.is_none() || params.context.include_declaration);
    Some(wanted.filter_map(|mention| document.location(mention.span)).collect())
}

#[expect(deprecated, reason = "a field of the protocol that has to be given")]
pub fn symbols(documents: &Documents, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let document = documents.get(&params.text_document.uri)?;
    let names = Names::of(document);
    let defined = names.mentions.iter().filter_map(|mention| Some((mention, mention.statement?)));
    let symbols = defined.filter_map(|(mention, statement)| {
        let (kind, detail) = match mention.kind {
            Kind::Source => (SymbolKind::EVENT, "source"),
            Kind::Destination => (SymbolKind::INTERFACE, "destination"),
            Kind::Filter => (SymbolKind::BOOLEAN, "filter"),
            Kind::Parser => (SymbolKind::STRUCT, "parser"),
            Kind::Rewrite => (SymbolKind::OPERATOR, "rewrite"),
            Kind::Template => (SymbolKind::STRING, "template"),
        };
        Some(DocumentSymbol {
            name: mention.name.clone(),
            detail: Some(detail.to_owned()),
            kind,
            tags: None,
            deprecated: None,
            range: document.own_range(statement)?,
            selection_range: document.own_range(mention.span)?,
            children: None,
        })
    });
    Some(DocumentSymbolResponse::Nested(symbols.collect()))
}

pub fn prepare_rename(
    documents: &Documents,
    params: &TextDocumentPositionParams,
) -> Option<PrepareRenameResponse> {
    let (document, names, (kind, name)) = asked(documents, params)?;
    let (_, offset) = documents.place(params)?;
    let position = words::position(&document.text, offset);
    let ranges = names.all(kind, &name).filter_map(|mention| document.own_range(mention.span));
    let mut here = ranges.filter(|range| range.start <= position && position <= range.end);
    here.next().map(PrepareRenameResponse::Range)
}

/// The error is why a name cannot be given.
pub fn rename(documents: &Documents, params: &RenameParams) -> Result<Option<WorkspaceEdit>, String> {
    let Some((document, names, (kind, name))) = asked(documents, &params.text_document_position) else {
        return Ok(None);
    };
    let new = &params.new_name;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if new.is_empty() || !new.chars().all(is_word) || new.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("`{new}` is no name: letters, digits, _, - and . make one"));
    }
    if names.all(kind, new).next().is_some() {
        return Err(format!("there is a statement `{new}` of this kind already"));
    }
    #[expect(clippy::mutable_key_type, reason = "the type of the protocol")]
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for mention in names.all(kind, &name) {
        let written = document.sources().text(document.sources().real(mention.span)).to_owned();
        let bare = written.trim_matches(['"', '\'']);
        if bare != name {
            return Err("the name is made by a block or a variable: it cannot be renamed here".to_owned());
        }
        let quote =
            written.chars().next().filter(|c| matches!(c, '"' | '\'')).map(String::from).unwrap_or_default();
        let Some(location) = document.location(mention.span) else { continue };
        let edit = TextEdit { range: location.range, new_text: format!("{quote}{new}{quote}") };
        let edits = changes.entry(location.uri).or_default();
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
}
