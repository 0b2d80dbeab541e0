//! Schemas of protocol buffers: the messages and enumerations of `.proto` files, as far as their encoding
//! depends on them.

use std::collections::HashMap;

/// Messages inside one another, and files that include one another.
const DEPTH_MAX: usize = 32;
/// Numbers of fields (the language's own bounds).
const NUMBERS: std::ops::RangeInclusive<u64> = 1..=536_870_911;

pub struct Schema {
    pub messages: Vec<Message>,
    pub enums: Vec<HashMap<String, i32>>,
}

#[derive(Default)]
pub struct Message {
    pub fields: Vec<Field>,
}

pub struct Field {
    pub name: String,
    pub number: u32,
    pub kind: Kind,
    pub repeated: bool,
    /// Repeated numbers stand in one piece.
    pub packed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Double,
    Float,
    /// `int32`, `int64`; of 32 bits or of 64.
    Int(u32),
    Uint(u32),
    /// Zigzag.
    Sint(u32),
    Fixed(u32),
    Sfixed(u32),
    Bool,
    String,
    Bytes,
    Message(usize),
    Enum(usize),
    Map(Box<Kind>, Box<Kind>),
    /// By name, until all is read: where it stands and what it is called there.
    Named(String, String),
}

impl Kind {
    fn scalar(word: &str) -> Option<Kind> {
        Some(match word {
            "double" => Kind::Double,
            "float" => Kind::Float,
            "int32" => Kind::Int(32),
            "int64" => Kind::Int(64),
            "uint32" => Kind::Uint(32),
            "uint64" => Kind::Uint(64),
            "sint32" => Kind::Sint(32),
            "sint64" => Kind::Sint(64),
            "fixed32" => Kind::Fixed(32),
            "fixed64" => Kind::Fixed(64),
            "sfixed32" => Kind::Sfixed(32),
            "sfixed64" => Kind::Sfixed(64),
            "bool" => Kind::Bool,
            "string" => Kind::String,
            "bytes" => Kind::Bytes,
            _ => return None,
        })
    }

    fn may_be_packed(&self) -> bool {
        !matches!(self, Kind::String | Kind::Bytes | Kind::Message(_) | Kind::Map(..))
    }
}

/// Reads a schema. `include` gives the text of an imported file.
pub fn read(text: &str, include: &mut dyn FnMut(&str) -> Result<String, String>) -> Result<Schema, String> {
    let mut reader = Reader {
        schema: Schema { messages: Vec::new(), enums: Vec::new() },
        types: HashMap::new(),
        read: Vec::new(),
    };
    reader.file(text, include, 0)?;
    let Reader { mut schema, types, .. } = reader;
    for message in &mut schema.messages {
        for field in &mut message.fields {
            resolve(&mut field.kind, &types)?;
            field.packed &= field.kind.may_be_packed();
        }
    }
    match schema.messages.is_empty() {
        true => Err("there is no message in it".to_owned()),
        false => Ok(schema),
    }
}

/// A type by its name: looked for in what it stands in, from the inside out.
fn resolve(kind: &mut Kind, types: &HashMap<String, Kind>) -> Result<(), String> {
    match kind {
        Kind::Map(_, value) => resolve(value, types),
        Kind::Named(scope, name) => {
            let found = match name.strip_prefix('.') {
                Some(full) => types.get(full),
                None => {
                    let inner = std::iter::successors(Some(scope.as_str()), |scope| {
                        (!scope.is_empty()).then(|| scope.rsplit_once('.').map_or("", |(outer, _)| outer))
                    });
                    let mut full = inner
                        .map(|scope| if scope.is_empty() { name.clone() } else { format!("{scope}.{name}") });
                    full.find_map(|full| types.get(&full))
                }
            };
            *kind = found.cloned().ok_or_else(|| format!("there is no type `{name}`"))?;
            Ok(())
        }
        _ => Ok(()),
    }
}

struct Reader {
    schema: Schema,
    /// Messages and enumerations by their whole names.
    types: HashMap<String, Kind>,
    /// Files that have been imported.
    read: Vec<String>,
}

impl Reader {
    fn file(
        &mut self,
        text: &str,
        include: &mut dyn FnMut(&str) -> Result<String, String>,
        depth: usize,
    ) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("imports too deep inside one another".to_owned());
        }
        let (mut tokens, mut scope, mut is_new) = (Tokens::of(text)?, String::new(), false);
        let mut imports = Vec::new();
        while let Some(word) = tokens.next() {
            match word.as_str() {
                ";" => {}
                "syntax" | "edition" => {
                    tokens.expect("=")?;
                    is_new = tokens.text()? != "proto2";
                    tokens.expect(";")?;
                }
                "package" => scope = tokens.until(";")?.concat(),
                "import" => {
                    let words = tokens.until(";")?;
                    imports.extend(words.last().map(|file| file.trim_matches(['"', '\'']).to_owned()));
                }
                "message" => self.message(&mut tokens, &scope, is_new, 0)?,
                "enum" => self.enumeration(&mut tokens, &scope)?,
                "option" => drop(tokens.until(";")?),
                "service" | "extend" => tokens.skip_braces()?,
                other => return Err(format!("`{other}` is not expected")),
            }
        }
        for import in imports {
            if self.read.contains(&import) {
                continue;
            }
            let text = include(&import)?;
            self.read.push(import.clone());
            self.file(&text, include, depth + 1).map_err(|error| format!("{import}: {error}"))?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        tokens: &mut Tokens,
        scope: &str,
        is_new: bool,
        depth: usize,
    ) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("messages too deep inside one another".to_owned());
        }
        let name = within(scope, &tokens.name()?);
        let at = self.schema.messages.len();
        self.schema.messages.push(Message::default());
        self.types.insert(name.clone(), Kind::Message(at));
        tokens.expect("{")?;
        loop {
            let word = tokens.name_or_sign()?;
            match word.as_str() {
                "}" => return Ok(()),
                ";" => {}
                "message" => self.message(tokens, &name, is_new, depth + 1)?,
                "enum" => self.enumeration(tokens, &name)?,
                "option" | "reserved" | "extensions" => drop(tokens.until(";")?),
                "extend" => tokens.skip_braces()?,
                "oneof" => {
                    tokens.name()?;
                    tokens.expect("{")?;
                    loop {
                        match tokens.name_or_sign()?.as_str() {
                            "}" => break,
                            ";" => {}
                            "option" => drop(tokens.until(";")?),
                            first => self.field(tokens, at, &name, (first, is_new))?,
                        }
                    }
                }
                first => self.field(tokens, at, &name, (first, is_new))?,
            }
        }
    }

    /// A field of a message, whose first word has been read.
    fn field(
        &mut self,
        tokens: &mut Tokens,
        message: usize,
        scope: &str,
        (first, is_new): (&str, bool),
    ) -> Result<(), String> {
        let repeated = first == "repeated";
        let kind = match first {
            "repeated" | "optional" | "required" => tokens.name()?,
            kind => kind.to_owned(),
        };
        let kind_of = |word: String| Kind::scalar(&word).unwrap_or(Kind::Named(scope.to_owned(), word));
        let kind = if kind == "map" {
            tokens.expect("<")?;
            let key = Kind::scalar(&tokens.name()?).ok_or("keys of maps are scalars")?;
            tokens.expect(",")?;
            let value = kind_of(tokens.name()?);
            tokens.expect(">")?;
            Kind::Map(Box::new(key), Box::new(value))
        } else {
            kind_of(kind)
        };
        let name = tokens.name()?;
        tokens.expect("=")?;
        let number = tokens.number()?;
        if !NUMBERS.contains(&number) {
            return Err(format!("the number of `{name}` is out of range"));
        }
        let options = tokens.until(";")?.concat();
        let packed = repeated
            && if is_new { !options.contains("packed=false") } else { options.contains("packed=true") };
        if let Some(message) = self.schema.messages.get_mut(message) {
            message.fields.push(Field { name, number: number as u32, kind, repeated, packed });
        }
        Ok(())
    }

    fn enumeration(&mut self, tokens: &mut Tokens, scope: &str) -> Result<(), String> {
        let name = within(scope, &tokens.name()?);
        tokens.expect("{")?;
        let mut values = HashMap::new();
        loop {
            match tokens.name_or_sign()?.as_str() {
                "}" => break,
                ";" => {}
                "option" | "reserved" => drop(tokens.until(";")?),
                value => {
                    let words = tokens.until(";")?;
                    let sign = if words.get(1).is_some_and(|word| word == "-") { -1 } else { 1 };
                    let digits = words.get(if sign < 0 { 2 } else { 1 });
                    let number = digits.and_then(|word| number(word)).and_then(|n| i32::try_from(n).ok());
                    let number = number.ok_or_else(|| format!("`{value}` has no number"))?;
                    values.insert(value.to_owned(), sign * number);
                }
            }
        }
        self.types.insert(name, Kind::Enum(self.schema.enums.len()));
        self.schema.enums.push(values);
        Ok(())
    }
}

fn within(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}

struct Tokens(std::vec::IntoIter<String>);

impl Iterator for Tokens {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0.next()
    }
}

impl Tokens {
    fn of(text: &str) -> Result<Tokens, String> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        loop {
            rest = rest.trim_start();
            let Some(first) = rest.chars().next() else { return Ok(Tokens(tokens.into_iter())) };
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            let len = if let Some(comment) = rest.strip_prefix("//") {
                rest = comment.split_once('\n').map_or("", |(_, behind)| behind);
                continue;
            } else if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/").ok_or("a comment has no end")?.1;
                continue;
            } else if matches!(first, '"' | '\'') {
                let end = rest.get(1..).and_then(|inside| inside.find(first)).ok_or("a text has no end")?;
                end + 2
            } else if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (token, behind) = rest.split_at(len);
            tokens.push(token.to_owned());
            rest = behind;
        }
    }

    fn any(&mut self) -> Result<String, String> {
        self.next().ok_or_else(|| "it ends too early".to_owned())
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        let found = self.any()?;
        if found == sign { Ok(()) } else { Err(format!("`{sign}` is expected, not `{found}`")) }
    }

    fn name(&mut self) -> Result<String, String> {
        let found = self.any()?;
        let begins = found.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.'));
        if begins { Ok(found) } else { Err(format!("a name is expected, not `{found}`")) }
    }

    fn name_or_sign(&mut self) -> Result<String, String> {
        let found = self.any()?;
        let fits = matches!(found.as_str(), "}" | ";")
            || found.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.'));
        if fits { Ok(found) } else { Err(format!("`{found}` is not expected")) }
    }

    fn text(&mut self) -> Result<String, String> {
        Ok(self.any()?.trim_matches(['"', '\'']).to_owned())
    }

    fn number(&mut self) -> Result<u64, String> {
        let found = self.any()?;
        number(&found).ok_or_else(|| format!("a number is expected, not `{found}`"))
    }

    /// The tokens up to a sign, which is taken too.
    fn until(&mut self, sign: &str) -> Result<Vec<String>, String> {
        let mut tokens = Vec::new();
        loop {
            let token = self.any()?;
            if token == sign {
                return Ok(tokens);
            }
            tokens.push(token);
        }
    }

    fn skip_braces(&mut self) -> Result<(), String> {
        self.until("{")?;
        let mut open = 1;
        while open > 0 {
            match self.any()?.as_str() {
                "{" => open += 1,
                "}" => open -= 1,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Result<String, String> {
        let mut include = |name: &str| match name {
            "more.proto" => Ok("package more; message Other { string x = 1; }".to_owned()),
            other => Err(format!("there is no {other}")),
        };
        let schema = read(text, &mut include)?;
        let message = &schema.messages[0];
        let field = |f: &Field| {
            format!("{}={}:{:?}{}", f.name, f.number, f.kind, if f.packed { " packed" } else { "" })
        };
        Ok(message.fields.iter().map(field).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn messages() {
        let text = "syntax = \"proto3\"; // comment\npackage a.b;\nimport public \"more.proto\";\noption java_package = \"x;y\";\n\
                    message Event { option deprecated = true; reserved 5, 7 to 9; reserved \"old\";\n enum Level { LOW = 0; HIGH = 5 [deprecated=true]; NEG = -1; }\n\
                    string name = 1; repeated int32 n = 2; /* a */ Level level = 3; map<string, Inner> all = 4; more.Other other = 6;\n\
                    oneof one { bytes b = 10; Inner i = 0x0b; }\n message Inner { Inner self = 1; optional .a.b.Event up = 2; repeated sint64 z = 3 [packed=false]; } }\n\
                    service S { rpc X(A) returns (B) { option y = {}; } }";
        assert_eq!(
            fields(text).as_deref(),
            Ok(
                "name=1:String, n=2:Int(32) packed, level=3:Enum(0), all=4:Map(String, Message(1)), other=6:Message(2), \
                b=10:Bytes, i=11:Message(1)"
            )
        );
        assert_eq!(fields("message M { repeated int32 n = 1; }").as_deref(), Ok("n=1:Int(32)"));
    }

    #[test]
    fn what_is_wrong() {
        for (text, error) in [
            ("", "there is no message in it"),
            ("message M { Foo f = 1; }", "there is no type `Foo`"),
            ("message M { string f = 0; }", "the number of `f` is out of range"),
            ("message M { string f 1; }", "`=` is expected, not `1`"),
            ("message M {", "it ends too early"),
            ("import \"x.proto\"; message M {}", "there is no x.proto"),
            ("/* x", "a comment has no end"),
            ("enum E { A; } message M {}", "`A` has no number"),
            ("foo", "`foo` is not expected"),
        ] {
            assert_eq!(fields(text).err().as_deref(), Some(error), "{text}");
        }
    }
}
