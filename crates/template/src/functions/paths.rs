//! Template functions on paths and the environment.

use crate::Cost;
use crate::function::{ANY, Args, Build, FunctionInfo};
use record::ValueType;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    FunctionInfo {
        name: "basename",
        usage: "PATH",
        help: "the last part of a path",
        arity: (1, 1),
        options: &[],
        build: Build::Plain(basename),
        example: ("$(basename /var/log/messages)", "messages"),
        cost: Cost::ARGUMENTS,
    },
    FunctionInfo {
        name: "dirname",
        usage: "PATH",
        help: "a path without its last part",
        arity: (1, 1),
        options: &[],
        build: Build::Plain(dirname),
        example: ("$(dirname /var/log/messages)", "/var/log"),
        cost: Cost::ARGUMENTS,
    },
    FunctionInfo {
        name: "env",
        usage: "NAME...",
        help: "environment variables with a blank between; empty for one that is not set",
        arity: (1, ANY),
        options: &[],
        build: Build::Plain(env),
        example: ("$(env NO_SUCH_VARIABLE_HERE)", ""),
        cost: Cost::of(
            "with fixed names the variable is read when the configuration is; otherwise the environment is searched for each message",
        ),
    },
];

fn without_slashes(path: &[u8]) -> &[u8] {
    let len = path.iter().rposition(|b| *b != b'/').map_or(path.len().min(1), |at| at + 1);
    &path[..len]
}

fn basename(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let path = without_slashes(args.get(0));
    match path.iter().rposition(|b| *b == b'/') {
        Some(at) if path.len() > 1 => out.extend_from_slice(&path[at + 1..]),
        _ if path.is_empty() => out.push(b'.'),
        _ => out.extend_from_slice(path),
    }
    ValueType::String
}

fn dirname(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    // A slash at the end ends a folder.
    let path = args.get(0);
    match path.iter().rposition(|b| *b == b'/') {
        Some(0) => out.push(b'/'),
        Some(at) => out.extend_from_slice(without_slashes(&path[..at])),
        None => out.push(b'.'),
    }
    ValueType::String
}

fn env(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    for (at, name) in args.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        // Names with `=` or NUL cannot exist, and asking for them would panic.
        let valid = !name.is_empty() && !name.contains(&b'=') && !name.contains(&0);
        if let Some(value) = valid.then(|| std::env::var_os(std::ffi::OsStr::from_bytes(name))).flatten() {
            out.extend_from_slice(&value.into_vec());
        }
    }
    ValueType::String
}
