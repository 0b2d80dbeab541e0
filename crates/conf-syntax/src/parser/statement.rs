//! The statements of the top level.

use diag::{Diagnostic, Diagnostics, Span, nearest};

use super::Parser;
use crate::ast::{
    Application, FilterObject, LogItem, Name, Object, ObjectKind, OptionsDef, Statement, TemplateBody,
    TemplateDef, TemplateFunction, Transform, Transformation, TypedText,
};
use crate::context::Context;
use crate::token::{Bracket, Tok};

pub(super) const FORMS: &str = "a statement begins with source, destination, filter, parser, rewrite, template, \
                                options, log or block";

const KEYWORDS: &[&str] = &[
    "source",
    "destination",
    "filter",
    "parser",
    "rewrite",
    "template",
    "template-function",
    "options",
    "log",
    "block",
    "application",
    "transformation",
    "python",
    "include",
];

impl Parser<'_> {
    /// One statement; its first word was taken, nothing is peeked.
    pub(super) fn statement(&mut self, word: Name) {
        let keyword = word.norm();
        let what = format!("the {keyword} statement");
        let read = match keyword.as_str() {
            "source" => self.object(ObjectKind::Source, word).map(Statement::Source),
            "destination" => self.object(ObjectKind::Destination, word).map(Statement::Destination),
            "parser" => self.object(ObjectKind::Parser, word).map(Statement::Parser),
            "rewrite" => self.object(ObjectKind::Rewrite, word).map(Statement::Rewrite),
            "filter" => self.filter(word).map(Statement::Filter),
            "template" => self.template(word).map(Statement::Template),
            "template-function" => self.template_function(word).map(Statement::TemplateFunction),
            "options" => self.options(word).map(Statement::Options),
            "log" => self.log(word).map(Statement::Log),
            "application" => self.application(word).map(|app| Statement::Application(Box::new(app))),
            "python" => self.raw_block(word, Vec::new()).map(|block| {
                self.reader.note_script(&block.text, block.inner, block.span);
                Statement::Python(block)
            }),
            "transformation" => self.transformation(word).map(|of| Statement::Transformation(Box::new(of))),
            "block" => {
                match self.reader.define_block(word.span) {
                    Some(span) => {
                        self.last = span;
                        self.semicolon(&what);
                    }
                    None => self.resync(),
                }
                return;
            }
            _ => {
                self.unknown_statement(&word);
                None
            }
        };
        match read {
            Some(statement) => {
                self.reader.config.items.push(statement);
                self.semicolon(&what);
            }
            None => self.resync(),
        }
    }

    fn unknown_statement(&mut self, word: &Name) {
        let blocks = self.reader.callable();
        let known = KEYWORDS.iter().copied().chain(blocks.iter().map(String::as_str));
        let near = nearest(&word.text, known).map(str::to_string);
        let mut d = Diagnostic::error("P0100", format!("unknown statement `{}`", word.text), word.span);
        d = match near {
            Some(near) => d.suggest(Some(&near)),
            None => d.help(FORMS),
        };
        self.push(d);
    }

    /// The name of an object, then its `{`.
    fn head(&mut self, kind: &str) -> Option<(Name, Span)> {
        let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let name = self.within(Context::Plain, |p| p.name(&format!("{article} {kind}")))?;
        let open = self.open(Bracket::Curly, &format!("`{kind} {}`", name.text))?;
        Some((name, open))
    }

    fn object(&mut self, kind: ObjectKind, word: Name) -> Option<Object> {
        let (name, open) = self.head(kind.keyword())?;
        let body = self.object_body(kind, open);
        Some(Object { name, body, span: word.span.to(self.last) })
    }

    fn filter(&mut self, word: Name) -> Option<FilterObject> {
        let (name, open) = self.head("filter")?;
        let expr = self.filter_body(Bracket::Curly, open);
        Some(FilterObject { name, expr, span: word.span.to(self.last) })
    }

    fn options(&mut self, word: Name) -> Option<OptionsDef> {
        let open = self.open(Bracket::Curly, "`options`")?;
        let options = self.option_list(Context::Options, open);
        Some(OptionsDef { options, span: word.span.to(self.last) })
    }

    /// `name(args); ...` up to `}`; the `{` was just taken.
    fn option_list(&mut self, context: Context, open: Span) -> Vec<crate::ast::Call> {
        self.within(context, |p| {
            p.deeper(Bracket::Curly, open, |p| {
                let mut options = Vec::new();
                while let Some(word) = p.next_item(open) {
                    let what = format!("`{}`", word.text);
                    match p.call(word) {
                        Some(call) => {
                            options.push(call);
                            p.semicolon(&what);
                        }
                        None => p.resync(),
                    }
                }
                options
            })
        })
        .unwrap_or_default()
    }

    fn log(&mut self, word: Name) -> Option<crate::ast::LogPath> {
        let name = match self.peek() {
            Tok::Open(Bracket::Curly) => None,
            _ => Some(self.name("the log path")?),
        };
        let open = self.open(Bracket::Curly, "`log`")?;
        Some(self.log_body(name, word.span, open))
    }

    fn template(&mut self, word: Name) -> Option<TemplateDef> {
        let name = self.within(Context::Plain, |p| p.name("a template"))?;
        let body = match self.take(&Tok::Open(Bracket::Curly)) {
            Some(open) => TemplateBody::Options(self.option_list(Context::Plain, open)),
            None => TemplateBody::Text(self.typed_text("the text of the template")?),
        };
        Some(TemplateDef { name, body, span: word.span.to(self.last) })
    }

    fn template_function(&mut self, word: Name) -> Option<TemplateFunction> {
        let name = self.within(Context::Plain, |p| p.name("a template function"))?;
        let text = self.typed_text("the text of the template function")?;
        Some(TemplateFunction { name, text, span: word.span.to(self.last) })
    }

    /// `"text"`, `word` or `type("text")`
    fn typed_text(&mut self, what: &str) -> Option<TypedText> {
        let token = self.peek_token().clone();
        let Some(text) = token.kind.clone().into_text() else {
            let message = format!("expected {what}, found {}", token.kind.describe());
            self.push(Diagnostic::error("P0112", message, token.span).help(
                "the forms are `name \"text\";`, `name type(\"text\");` and `name { template(\"text\"); };`",
            ));
            return None;
        };
        self.next();
        if !matches!(token.kind, Tok::Word(_)) || self.take(&Tok::Open(Bracket::Round)).is_none() {
            return Some(TypedText { type_hint: None, text, span: token.span });
        }
        let open = self.last;
        let hint = Name { text, span: token.span };
        let inner = self.next();
        let span = inner.span;
        let Some(text) = inner.kind.into_text() else {
            self.error("P0112", format!("expected {what} inside `{}(...)`", hint.text), span);
            return None;
        };
        if self.take(&Tok::Close(Bracket::Round)).is_none() {
            self.missing_close(Bracket::Round, open);
        }
        Some(TypedText { type_hint: Some(hint), text, span })
    }

    /// `name[topic]`
    fn name_and_topic(&mut self, what: &str) -> Option<(Name, Name)> {
        self.within(Context::Plain, |p| {
            let name = p.name(what)?;
            p.open(Bracket::Square, &format!("`{}`", name.text))?;
            let topic = p.name("the topic")?;
            if p.take(&Tok::Close(Bracket::Square)).is_none() {
                let open = name.span.after();
                p.missing_close(Bracket::Square, open);
            }
            Some((name, topic))
        })
    }

    fn transformation(&mut self, word: Name) -> Option<Transformation> {
        let (name, topic) = self.name_and_topic("a transformation")?;
        let open = self.open(Bracket::Curly, "the topic")?;
        let mut made = Transformation { name, topic, transforms: Vec::new(), span: word.span };
        self.parts("transform", open, |p, name, open, _| {
            let mut steps = Vec::new();
            p.parts("step", open, |p, name, open, keyword| {
                steps.push(p.log_body(Some(name), keyword, open));
            });
            made.transforms.push(Transform { name, steps });
        });
        made.span = word.span.to(self.last);
        Some(made)
    }

    /// `keyword[name] { ... };` up to `}`; `read` reads what stands in its braces.
    fn parts(&mut self, keyword: &str, open: Span, mut read: impl FnMut(&mut Self, Name, Span, Span)) {
        self.within(Context::Plain, |p| {
            while let Some(word) = p.next_item(open) {
                if word.text != keyword {
                    let message =
                        format!("`{}` stands where `{keyword}[NAME] {{ ... }};` is expected", word.text);
                    let near = nearest(&word.text, [keyword]);
                    p.push(Diagnostic::error("P0113", message, word.span).suggest(near));
                    p.resync();
                    continue;
                }
                let head = p.open(Bracket::Square, &format!("`{keyword}`")).and_then(|open| {
                    let name = p.name(&format!("the {keyword}"))?;
                    if p.take(&Tok::Close(Bracket::Square)).is_none() {
                        p.missing_close(Bracket::Square, open);
                    }
                    Some(name)
                });
                let what = format!("`{keyword}`");
                match head.and_then(|name| Some((name, p.open(Bracket::Curly, &what)?))) {
                    Some((name, open)) => {
                        read(p, name, open, word.span);
                        p.semicolon(&what);
                    }
                    None => p.resync(),
                }
            }
        });
    }

    fn application(&mut self, word: Name) -> Option<Application> {
        let (name, topic) = self.name_and_topic("an application")?;
        let open = self.open(Bracket::Curly, "the topic")?;
        let mut app = Application {
            name,
            topic,
            filter: None,
            parser: None,
            filterx: None,
            findings: Diagnostics::new(),
            span: word.span,
        };
        let mut seen: Vec<String> = Vec::new();
        self.within(Context::Plain, |p| {
            while let Some(part) = p.next_item(open) {
                let what = format!("`{}`", part.text);
                if seen.contains(&part.text) {
                    p.error("P0113", format!("{what} stands twice in the application"), part.span);
                }
                seen.push(part.text.clone());
                match p.application_part(part, &mut app) {
                    Some(()) => p.semicolon(&what),
                    None => p.resync(),
                }
            }
        });
        app.span = word.span.to(self.last);
        Some(app)
    }

    /// Reads the body of a part; what is wrong in it is kept with the application.
    fn kept_for<T>(&mut self, app: &mut Application, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(&mut self.reader.diags);
        let body = read(self);
        let found = std::mem::replace(&mut self.reader.diags, before);
        // After a fatal error nothing is known of the rest of the file.
        let to = if self.reader.fatal { &mut self.reader.diags } else { &mut app.findings };
        to.extend(found);
        body
    }

    fn application_part(&mut self, part: Name, app: &mut Application) -> Option<()> {
        match part.text.as_str() {
            "filter" => {
                let open = self.open(Bracket::Curly, "`filter`")?;
                app.filter = self.kept_for(app, |p| p.filter_body(Bracket::Curly, open));
            }
            "parser" => {
                let open = self.open(Bracket::Curly, "`parser`")?;
                let body: Vec<LogItem> = self.kept_for(app, |p| p.object_body(ObjectKind::Parser, open));
                app.parser = Some(body);
            }
            "filterx" => app.filterx = Some(self.raw_block(part, Vec::new())?),
            other => {
                let near = nearest(other, ["filter", "parser", "filterx"]);
                let message = format!("`{other}` is not a part of an application");
                self.push(
                    Diagnostic::error("P0113", message, part.span)
                        .help("an application has `filter { ... };` and `parser { ... };`")
                        .suggest(near),
                );
                return None;
            }
        }
        Some(())
    }
}
