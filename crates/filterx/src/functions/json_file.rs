//! `cache_json_file()`: a file of JSON as a value, read again when it changes.

use crate::ast::Kind;
use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Run};
use crate::types::Types;
use filter::{FILE_BYTES_MAX, new_asker};
use parking_lot::{Mutex, RwLock};
use parsers::watched::{Stamp, Watch, Watched};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use value::{Trees, Value, read_json};

pub const FUNCTION: Function = Function {
    name: "cache_json_file",
    parameters: &[
        Parameter::text("path"),
        Parameter::named("default_value", Form::Value(Types::DICT.or(Types::LIST)), "none"),
    ],
    returns: Types::DICT.or(Types::LIST),
    help: "The object or array in a file of JSON, which is read again a second after it has changed; a file that cannot be read or is gone leaves the \
           content before. Without `default_value` the file has to be there when the configuration is read. Its tree is made once for a batch of \
           messages.",
    examples: &[("cache_json_file(\"/nonexistent.json\", default_value={\"a\": 1}).a", "1")],
    build: Build::Made(build),
};

const WATCH: Watch =
    Watch { thread: "json-file", every: Duration::from_secs(1), failure: "A JSON file is not looked after" };

fn build(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let path = args.string(0, "")?;
    if let Some(written) = args.ast(1)
        && !matches!(written.kind, Kind::Dict(_) | Kind::List(_))
    {
        args.wrong(1, "`default_value` has to be a dict or a list", "as in `default_value={}`");
        return None;
    }
    let default = args.optional(1)?;
    let path = args.compiler.setting.env.data_file(&path);
    let content = match read(&path) {
        Ok(content) => Some(content),
        Err(_) if default.is_some() => None,
        Err(why) => {
            let help = "with `default_value={}` it need not be there yet";
            args.compiler.wrong_with(
                "Y0113",
                format!("cannot take {}: {why}", path.display()),
                args.at,
                help,
            );
            return None;
        }
    };
    let stamp = content.as_ref().and_then(|_| Stamp::of(&path));
    let file = JsonFile {
        path,
        asker: new_asker(),
        content: RwLock::new(content),
        seen: Mutex::new(stamp),
        watched: Watched::default(),
    };
    args.made(Cached { file: Arc::new(file), default })
}

struct Cached {
    file: Arc<JsonFile>,
    default: Option<Expr>,
}

struct JsonFile {
    path: PathBuf,
    asker: u64,
    content: RwLock<Option<Arc<[u8]>>>,
    seen: Mutex<Option<Stamp>>,
    watched: Watched,
}

/// The text of the file, which is one object or array.
fn read(path: &Path) -> Result<Arc<[u8]>, String> {
    let text = regular::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    let (mut tried, mut trees) = (text.clone(), Trees::default());
    let span = value::Span::new(0, text.len());
    match read_json(&mut tried, span, &mut trees) {
        Ok(Value::Dict(_) | Value::List(_)) => Ok(text.into()),
        Ok(_) => Err("it is no object or array of JSON".to_owned()),
        Err(error) => Err(crate::run::json_text(&error, &text)),
    }
}

impl JsonFile {
    /// Takes the file if it has changed.
    fn check(&self) {
        let stamp = Stamp::of(&self.path);
        if std::mem::replace(&mut *self.seen.lock(), stamp) == stamp {
            return;
        }
        let path = self.path.display();
        match read(&self.path) {
            Ok(content) => {
                *self.content.write() = Some(content);
                oplog::notice("JSON file read again", &[("file", &path)]);
            }
            Err(error) => {
                oplog::error(
                    "Error reading a JSON file, the content before is kept",
                    &[("file", &path), ("error", &error)],
                );
            }
        }
    }
}

impl Operation for Cached {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = match run.batch.kept(self.file.asker) {
            Some(value) => value,
            None => self.made(run)?,
        };
        run.trees().share(value);
        Ok(value)
    }
}

impl Cached {
    /// The tree of the file, for the messages of this batch.
    fn made(&self, run: &mut Run<'_>) -> Eval {
        self.file.watched.begin(&self.file, &WATCH, JsonFile::check);
        let content = self.file.content.read().clone();
        let value = match (content, &self.default) {
            (Some(content), _) => {
                // It is no text made of this message: what bounds that does not bound it.
                let span = run.batch.append(&content);
                if span.len as usize != content.len() {
                    return run.full();
                }
                run.text_end = run.text_end.saturating_add(content.len());
                run.read_json(span)?
            }
            (None, Some(default)) => run.eval(default)?,
            (None, None) => return run.error("The file of JSON has not been read"),
        };
        run.batch.keep(self.file.asker, value);
        Ok(value)
    }
}
