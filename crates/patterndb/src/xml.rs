//! XML as a tree of elements with their places. There are no entities but the five of XML and numbers, so
//! none can expand.

use diag::{Diagnostic, Diagnostics, FileId, Span};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements inside each other.
const DEPTH_MAX: usize = 32;
/// Elements of one file.
const ELEMENTS_MAX: usize = 4_000_000;

#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    /// All text directly inside, comments left out.
    pub text: String,
    pub children: Vec<Element>,
    /// The start tag.
    pub span: Span,
    /// From the first to the last of the text.
    pub text_span: Span,
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }
}

/// The outermost element; `None` when the text is no XML, which is reported.
pub fn read(text: &str, file: FileId, diags: &mut Diagnostics) -> Option<Element> {
    let mut walk = Walk { file, open: Vec::new(), root: None, elements: 0 };
    let mut reader = Reader::from_str(text);
    loop {
        let from = reader.buffer_position() as usize;
        let event = match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => event,
            Err(error) => {
                let at = reader.error_position() as usize;
                diags.error("A0201", format!("this is no XML: {error}"), Span::new(file, at, at + 1));
                return None;
            }
        };
        let span = Span::new(file, from, reader.buffer_position() as usize);
        if let Err(text) = walk.event(event, span) {
            diags.error("A0201", text, span);
            return None;
        }
    }
    if let Some(open) = walk.open.last() {
        diags.error("A0201", format!("`<{}>` is never closed", open.name), open.span);
        return None;
    }
    if walk.root.is_none() {
        diags.push(
            Diagnostic::error("A0201", "there is no element in this file", Span::new(file, 0, 0))
                .help("a database begins with <patterndb version='6' pub_date='2026-01-01'>"),
        );
    }
    walk.root
}

struct Walk {
    file: FileId,
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
}

impl Walk {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        match event {
            Event::Start(start) => self.start(&start, span),
            Event::Empty(start) => {
                self.start(&start, span)?;
                self.end();
                Ok(())
            }
            Event::End(_) => {
                self.end();
                Ok(())
            }
            Event::Text(text) => self.text(&text, span),
            Event::CData(text) => self.text(&text, span),
            Event::GeneralRef(reference) => {
                let mut buffer = [0; 4];
                let text = match reference.resolve_char_ref() {
                    Ok(Some(character)) => &*character.encode_utf8(&mut buffer),
                    Ok(None) => match &*reference {
                        "lt" => "<",
                        "gt" => ">",
                        "amp" => "&",
                        "quot" => "\"",
                        "apos" => "'",
                        other => return Err(format!("there is no entity `{other}`")),
                    },
                    Err(error) => return Err(format!("a wrong reference: {error}")),
                };
                self.text(text, span)
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Eof => Ok(()),
        }
    }

    fn start(&mut self, start: &BytesStart<'_>, span: Span) -> Result<(), String> {
        self.elements += 1;
        if self.open.len() >= DEPTH_MAX || self.elements > ELEMENTS_MAX {
            return Err(format!(
                "too much: elements go {DEPTH_MAX} deep at most, and there are at most {ELEMENTS_MAX}"
            ));
        }
        if self.open.is_empty() && self.root.is_some() {
            return Err("a second outermost element".to_owned());
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|e| format!("a wrong attribute: {e}"))?;
            let value = quick_xml::escape::unescape(&attribute.value);
            let value = value.map_err(|e| format!("a wrong attribute: {e}"))?;
            attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
        }
        let text_span = Span::new(self.file, span.end as usize, span.end as usize);
        let name = start.name().as_ref().to_owned();
        let text = String::new();
        self.open.push(Element { name, attributes, text, children: Vec::new(), span, text_span });
        Ok(())
    }

    fn end(&mut self) {
        let Some(done) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => self.root = Some(done),
        }
    }

    fn text(&mut self, text: &str, span: Span) -> Result<(), String> {
        match self.open.last_mut() {
            Some(element) => {
                if element.text.is_empty() {
                    element.text_span = span;
                }
                element.text_span = element.text_span.to(span);
                element.text.push_str(text);
                Ok(())
            }
            None if text.trim_matches('\u{feff}').trim().is_empty() => Ok(()),
            None => Err("text outside of the outermost element".to_owned()),
        }
    }
}
