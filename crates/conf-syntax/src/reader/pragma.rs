//! Pragmas: lines that begin with `@`.

use std::path::{Path, PathBuf};

use diag::{Diagnostic, Span, nearest};

use super::{Generator, Reader};
use crate::ast::{Arg, ArgKind, Call, Define, Module, Name, Requires, Version, norm};
use crate::token::{Bracket, Tok, Token};

const PRAGMAS: &[&str] = &["version", "include", "define", "module", "requires", "line", "config-id"];
const OLDEST_VERSION: Version = Version::new(3, 0);
const VERSION_CHARS_MAX: usize = 7;

impl Reader<'_> {
    /// The reader stands on the `@`; the whole line is read and acted upon.
    pub(super) fn pragma(&mut self) {
        let start = self.here();
        self.in_pragma = true;
        let emit = std::mem::replace(&mut self.emit, false);
        self.bump();
        let mut line: Vec<Token> = Vec::new();
        loop {
            let token = self.lex();
            match token.kind {
                Tok::Newline | Tok::Eof => break,
                _ => line.push(token),
            }
        }
        self.in_pragma = false;
        self.emit = emit;
        if self.emit {
            self.preprocessed.push(b'\n');
        }
        let end = line.last().map_or(start + 1, |t| t.span.end as usize);
        let span = Span::new(self.file(), start, end);
        let mut words = line.into_iter();
        let Some(Token { kind: Tok::Word(name), span: name_span }) = words.next() else {
            self.bad_pragma("expected the name of a pragma after `@`", span, PRAGMAS.join(", @"));
            return;
        };
        let rest: Vec<Token> = words.collect();
        match norm(&name).as_str() {
            "version" => self.version(rest, span),
            "include" => self.include_pragma(rest, span),
            "define" => self.define(rest, span),
            "module" => self.module(rest, span),
            "requires" => self.requires(rest, span),
            "line" => self.line(rest, span),
            "config-id" => self.config_id(rest, span),
            _ => {
                let near = nearest(&name, PRAGMAS.iter().copied());
                self.diags.push(
                    Diagnostic::error("P0020", format!("unknown pragma `@{name}`"), name_span).suggest(near),
                );
            }
        }
    }

    fn bad_pragma(&mut self, message: &str, span: Span, form: impl std::fmt::Display) {
        self.diags.push(Diagnostic::error("P0021", message, span).help(format!("the form is: @{form}")));
    }

    fn version(&mut self, rest: Vec<Token>, span: Span) {
        let text = match <[Token; 2]>::try_from(rest) {
            Ok([colon, value]) if colon.kind == Tok::Colon => value.kind.into_text(),
            _ => None,
        };
        let Some(text) = text else {
            return self.bad_pragma("`@version` needs a version", span, "version: 4.2");
        };
        self.has_version = true;
        if self.config.version.is_some() {
            self.diags.warning("P0026", "`@version` was given before; this one is ignored", span);
            return;
        }
        let newest = self.options.newest_version;
        let Some(version) = (if text == "current" { Some(newest) } else { parse_version(&text) }) else {
            self.diags.push(
                Diagnostic::error("P0023", format!("`{text}` is not a version"), span)
                    .help("a version is two numbers with a dot between them, as 4.2, or `current`"),
            );
            return;
        };
        if version < OLDEST_VERSION {
            self.diags.push(
                Diagnostic::error("P0023", format!("version {version} is not supported"), span)
                    .help("bring the configuration to the syntax of 3.0 or later and change the number"),
            );
            return;
        }
        if version > newest {
            self.diags.push(Diagnostic::warning(
                "P0024",
                format!("version {version} is newer than the newest known, {newest}, which is used instead"),
                span,
            ));
        } else if version < self.options.compat_version {
            let compat = self.options.compat_version;
            self.diags.push(
                Diagnostic::remark(
                    "P0025",
                    format!("the configuration is written for version {version}; its meanings are kept"),
                    span,
                )
                .help(format!("meanings changed up to {compat}: once checked, raise the number to {newest}")),
            );
        }
        self.config.version = Some(version.min(newest));
    }

    fn include_pragma(&mut self, rest: Vec<Token>, span: Span) {
        match <[Token; 1]>::try_from(rest).ok().and_then(|[t]| t.kind.into_text()) {
            Some(name) => self.include(&name, span),
            None => self.bad_pragma("`@include` needs one file name", span, "include \"file\""),
        }
    }

    fn define(&mut self, rest: Vec<Token>, span: Span) {
        let Ok([name, value]) = <[Token; 2]>::try_from(rest) else {
            return self.bad_pragma("`@define` needs a name and one value", span, "define name \"value\"");
        };
        let name_span = name.span;
        match (name.kind.into_text(), value.kind.into_text()) {
            (Some(name), Some(value)) => {
                self.globals.insert(norm(&name), value.clone());
                self.defined_folder(&norm(&name), &value);
                self.config.defines.push(Define { name: Name { text: name, span: name_span }, value });
            }
            _ => self.bad_pragma("`@define` needs a name and one value", span, "define name \"value\""),
        }
    }

    /// Two names say where includes are looked for: `include-path` replaces the folders, `scl-root` adds the
    /// one a library is in.
    fn defined_folder(&mut self, name: &str, value: &str) {
        match name {
            "include-path" => {
                self.include_path = value.split(':').filter(|f| !f.is_empty()).map(PathBuf::from).collect();
            }
            "scl-root" => {
                if let Some(parent) = Path::new(value).parent().map(Path::to_path_buf)
                    && !self.include_path.contains(&parent)
                {
                    // After the folder of the configuration itself.
                    self.include_path.insert(self.include_path.len().min(1), parent);
                }
            }
            _ => {}
        }
    }

    fn requires(&mut self, rest: Vec<Token>, span: Span) {
        let mut parts = rest.into_iter();
        let module = parts.next().and_then(|t| {
            let span = t.span;
            t.kind.into_text().map(|text| Name { text, span })
        });
        let message = parts.next().map(|t| t.kind.into_text());
        let (Some(module), None | Some(Some(_)), None) = (module, &message, parts.next()) else {
            return self.bad_pragma("`@requires` needs a module", span, "requires module [\"message\"]");
        };
        let message = message.flatten();
        let missing = !self.has_module(&module.text);
        self.config.requires.push(Requires { module: module.clone(), message: message.clone(), span });
        if !missing {
            return;
        }
        let included = self.levels.len() > 1;
        match message {
            None if included => self.end_level(),
            message => {
                let text = format!("the module `{}` is required here and does not exist", module.text);
                let mut d = Diagnostic::error("P0027", text, span);
                if let Some(message) = message {
                    d = d.note(message);
                }
                self.diags.push(d);
            }
        }
    }

    fn has_module(&self, name: &str) -> bool {
        let wanted = norm(name);
        self.options.modules.as_ref().is_none_or(|m| m.iter().any(|have| norm(have) == wanted))
    }

    fn module(&mut self, rest: Vec<Token>, span: Span) {
        let mut parts = rest.into_iter().peekable();
        let Some((Some(name), name_span)) = parts.next().map(|t| (t.kind.into_text(), t.span)) else {
            return self.bad_pragma("`@module` needs a name", span, "module name [argument(value) ...]");
        };
        let mut args = Vec::new();
        while let Some(token) = parts.next() {
            let open = parts.next().map(|t| t.kind);
            let (Tok::Word(arg), Some(Tok::Open(Bracket::Round))) = (token.kind, open) else {
                return self.bad_pragma("wrong arguments", span, "module name [argument(value) ...]");
            };
            let mut values = Vec::new();
            let close = loop {
                match parts.next() {
                    Some(Token { kind: Tok::Close(Bracket::Round), span }) => break span,
                    Some(t) => values.extend(plain_arg(t)),
                    None => {
                        return self.bad_pragma(
                            "missing `)`: a pragma ends with its line",
                            span,
                            "module name [argument(value) ...]",
                        );
                    }
                }
            };
            let whole = token.span.to(close);
            let call = Call { name: Name { text: arg, span: token.span }, args: values, span: whole };
            args.push(Arg { kind: ArgKind::Call(call), span: whole });
        }
        if norm(&name) == "confgen" {
            self.confgen_module(&args, span);
        } else if !self.has_module(&name) {
            let near = self
                .options
                .modules
                .as_ref()
                .and_then(|m| nearest(&name, m.iter().map(String::as_str)))
                .map(str::to_string);
            let finding = Diagnostic::error("P0027", format!("there is no module `{name}`"), name_span);
            self.diags.push(match near {
                Some(near) => finding.suggest(Some(&near)),
                None => finding.help("remove the line: what the program can do is always loaded"),
            });
        }
        self.config.modules.push(Module { name: Name { text: name, span: name_span }, args, span });
    }

    fn confgen_module(&mut self, args: &[Arg], span: Span) {
        let value = |wanted: &str| {
            args.iter().find_map(|a| match &a.kind {
                ArgKind::Call(c) if c.is(wanted) => c.args.first().and_then(Arg::text).map(str::to_string),
                _ => None,
            })
        };
        match (value("context"), value("name"), value("exec")) {
            (Some(context), Some(name), Some(exec)) => {
                self.add_generator(&context, &name, Generator::Confgen { exec });
            }
            _ => self.bad_pragma(
                "the module confgen needs context(), name() and exec()",
                span,
                "module confgen context(source) name(x) exec(\"command\")",
            ),
        }
    }

    fn line(&mut self, rest: Vec<Token>, span: Span) {
        let mut values = rest.into_iter().map(|t| t.kind);
        let (file, line, column) = (values.next(), values.next(), values.next());
        let (name, line) = match (file, line, column) {
            // Without arguments: back to the real positions.
            (None, ..) => (None, None),
            (
                Some(Tok::Str(name, _) | Tok::Word(name)),
                Some(Tok::Int(line, _)),
                None | Some(Tok::Int(..)),
            ) => (Some(name), Some(line)),
            _ => {
                return self.bad_pragma("`@line` needs a file and a line", span, "line \"file\" line column");
            }
        };
        let (file, offset) = (self.file(), self.levels.last().map_or(0, |l| l.pos));
        match line {
            Some(line) => {
                let line = u32::try_from(line.max(1)).unwrap_or(u32::MAX);
                self.sources.add_line_mark(file, offset, name, line);
            }
            None => self.sources.end_line_marks(file, offset),
        }
    }

    fn config_id(&mut self, rest: Vec<Token>, span: Span) {
        let id = match <[Token; 2]>::try_from(rest) {
            Ok([colon, value]) if colon.kind == Tok::Colon => {
                let span = value.span;
                value.kind.into_text().map(|text| Name { text, span })
            }
            _ => None,
        };
        match id {
            Some(id) => self.config.config_id = Some(id),
            None => self.bad_pragma("`@config-id` needs an id", span, "config-id: name"),
        }
    }
}

fn parse_version(text: &str) -> Option<Version> {
    if text.len() > VERSION_CHARS_MAX {
        return None;
    }
    let (major, minor) = text.split_once('.')?;
    let number = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse().ok()).flatten();
    Some(Version::new(number(major)?, number(minor)?))
}

fn plain_arg(token: Token) -> Option<Arg> {
    let kind = match token.kind {
        Tok::Word(text) => ArgKind::Ident(text),
        Tok::Str(text, quote) => ArgKind::Str { text, quote },
        Tok::Int(value, text) => ArgKind::Int { value, text },
        Tok::Float(value, text) => ArgKind::Float { value, text },
        _ => return None,
    };
    Some(Arg { kind, span: token.span })
}
