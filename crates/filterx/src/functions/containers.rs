//! Dicts and lists as wholes: keys, pairs, what is empty, fields with candidates.

mod empties;
mod fields;

use super::convert::first;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Holder, Operation};
use crate::run::{Eval, Halt, Run};
use crate::types::Types;
use value::{Node, Value};

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "keys",
        parameters: &[Parameter::value("dict", Types::MAPPING.or(Types::SEQUENCE))],
        returns: Types::LIST,
        help: "The keys of a dict in their order; of a list, its indices.",
        examples: &[("keys({\"a\":1,\"b\":2})", "[\"a\",\"b\"]"), ("keys([\"x\",\"y\"])", "[0,1]")],
        build: Build::Plain(keys),
    },
    Function {
        name: "dict_to_pairs",
        parameters: &[
            Parameter::value("dict", Types::MAPPING),
            Parameter::text("key"),
            Parameter::text("value"),
        ],
        returns: Types::LIST,
        help: "A list with a dict for each pair, in which the key and the value have the names given.",
        examples: &[("dict_to_pairs({\"a\":1}, \"k\", \"v\")", "[{\"k\":\"a\",\"v\":1}]")],
        build: Build::Made(|args| {
            let dict = args.value(0);
            let (key, value) = (args.text(1, "")?, args.text(2, "")?);
            let (key, value) = (args.compiler.text(&key), args.compiler.text(&value));
            args.made(ToPairs { dict: dict?, key, value })
        }),
    },
    Function {
        name: "flatten",
        parameters: &[Parameter::holder("dict"), Parameter::named("separator", Form::Text, "\".\"")],
        returns: Types::BOOLEAN,
        help: "Lifts the keys of dicts inside a dict up into it, joined with the separator. Lists stay what they are, and dicts that are empty vanish. The \
               dict itself is changed; what is returned is true.",
        examples: &[(
            "d = {\"a\":{\"b\":1,\"c\":[]},\"x\":1}; flatten(d); d",
            "{\"x\":1,\"a.b\":1,\"a.c\":[]}",
        )],
        build: Build::Made(|args| {
            let dict = args.holder(0);
            let separator = args.text(1, ".")?;
            args.made(Flatten { dict: dict?, separator })
        }),
    },
    Function {
        name: "unset_empties",
        parameters: &[
            Parameter::holder("container"),
            Parameter::named("recursive", Form::Flag, "true"),
            Parameter::named("ignorecase", Form::Flag, "false"),
            Parameter::named("targets", Form::Expression, "`[\"\", null, [], {}]`"),
            Parameter::named("replacement", Form::Expression, "none"),
        ],
        returns: Types::BOOLEAN,
        help: "Takes what is empty out of a dict or list, and what becomes empty by that; with `targets` other values, with a replacement that is put in their \
               place. The container itself is changed; what is returned is true.",
        examples: &[
            (
                "d = {\"a\":\"\",\"b\":[null],\"c\":{\"d\":{}},\"e\":\"v\"}; unset_empties(d); d",
                "{\"e\":\"v\"}",
            ),
            (
                "d = {\"a\":\"N/A\",\"b\":\"\"}; unset_empties(d, targets=[\"n/a\"], ignorecase=true); d",
                "{\"b\":\"\"}",
            ),
            ("d = [\"\",1]; unset_empties(d, replacement=\"-\"); d", "[\"-\",1]"),
        ],
        build: Build::Made(empties::build),
    },
    Function {
        name: "set_fields",
        parameters: &[
            Parameter::holder("dict"),
            Parameter::named("overrides", Form::Fields, "none"),
            Parameter::named("defaults", Form::Fields, "none"),
            Parameter::named("replacements", Form::Fields, "none"),
        ],
        returns: Types::DICT,
        help: "Sets several keys of a dict: overrides always, replacements where the key is set, defaults where it is not. A list of values holds candidates, \
               of which the first that is no error and not null counts. The dict itself is changed, and returned.",
        examples: &[(
            "d = {\"a\":\"1\"}; d2 = set_fields(d, overrides={\"b\":[nosuch,\"v\"]}, defaults={\"a\":\"z\",\"c\":\"d\"}); d2",
            "{\"a\":\"1\",\"b\":\"v\",\"c\":\"d\"}",
        )],
        build: Build::Made(fields::build),
    },
];

fn keys(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let value = first(args);
    let keys: Vec<Value> = match (value, run.pair_count(value)) {
        (_, Some(count)) => (0..count).filter_map(|at| run.pair(value, at)).map(|(key, _)| key).collect(),
        (Value::List(_) | Value::Tuple(_) | Value::Otel(..), None) => {
            (0..run.cells(value).len() as i64).map(Value::Integer).collect()
        }
        _ => return run.error("Argument must be a dict"),
    };
    keys.iter().for_each(|key| run.trees().share(*key));
    run.list(&keys)
}

struct ToPairs {
    dict: Expr,
    key: u32,
    value: u32,
}

impl Operation for ToPairs {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let dict = run.eval(&self.dict)?;
        let Some(count) = run.pair_count(dict) else { return run.error("Argument must be a dict") };
        let (key, value) = (run.literal_value(self.key)?, run.literal_value(self.value)?);
        let mut pairs = Vec::new();
        for at in 0..count {
            let Some((own_key, own_value)) = run.pair(dict, at) else { continue };
            run.trees().share(own_value);
            let pair = run.new_dict()?;
            run.set_key(pair, key, own_key)?;
            run.set_key(pair, value, own_value)?;
            pairs.push(Value::Dict(pair));
        }
        run.list(&pairs)
    }
}

/// Containers inside one another that are gone into.
const DEPTH_MAX: usize = 128;

struct Flatten {
    dict: Holder,
    separator: Vec<u8>,
}

impl Operation for Flatten {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.own_holder(&self.dict)?;
        let Value::Dict(node) = value else { return run.error("Argument must be a dict") };
        let cells = run.cells(value).to_vec();
        let result = self.flatten(run, node, &cells);
        if result.is_err() {
            // Nothing of it is lost where somebody passes over the error.
            run.trees().truncate(node, 0);
            for cell in &cells {
                if run.trees().push(node, *cell).is_err() {
                    return run.full();
                }
            }
        }
        result.map(|()| Value::Boolean(true))
    }
}

impl Flatten {
    fn flatten(&self, run: &mut Run<'_>, node: Node, cells: &[Value]) -> Result<(), Halt> {
        run.trees().truncate(node, 0);
        let mut nested = Vec::new();
        for pair in cells.chunks_exact(2) {
            match pair[1] {
                Value::Dict(_) => nested.push((pair[0], pair[1])),
                other => run.set_key(node, pair[0], other)?,
            }
        }
        for (key, inner) in nested {
            let Value::String(_) = key else { return run.error("Keys of dicts in a dict must be strings") };
            let mut path = run.bytes(key).to_vec();
            self.lift(run, node, inner, &mut path, 0)?;
        }
        Ok(())
    }

    fn lift(
        &self,
        run: &mut Run<'_>,
        to: Node,
        from: Value,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), Halt> {
        if depth >= DEPTH_MAX {
            return run.error("Too many dicts inside one another");
        }
        let len = path.len();
        for at in 0..run.cells(from).len() / 2 {
            let cell = |run: &Run<'_>, at: usize| run.cells(from).get(at).copied().unwrap_or_default();
            let (key, value) = (cell(run, 2 * at), cell(run, 2 * at + 1));
            let Value::String(_) = key else { return run.error("Keys of dicts in a dict must be strings") };
            path.extend_from_slice(&self.separator);
            path.extend_from_slice(run.bytes(key));
            match value {
                Value::Dict(_) => self.lift(run, to, value, path, depth + 1)?,
                other => {
                    run.trees().share(other);
                    run.set_text(to, path, other)?;
                }
            }
            path.truncate(len);
        }
        Ok(())
    }
}
