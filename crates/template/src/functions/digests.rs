//! Template functions that compute digests of their arguments, in hexadecimal.

use crate::call::Call;
use crate::function::{ANY, Build, BuildFn, Function, FunctionInfo, with_args};
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use md4::Md4;
use md5::Md5;
use record::{Demand, ValueType};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

const fn digest(
    name: &'static str,
    help: &'static str,
    build: BuildFn,
    example: (&'static str, &'static str),
) -> FunctionInfo {
    FunctionInfo {
        name,
        usage: "[--length N] TEXT...",
        help,
        arity: (1, ANY),
        options: &[("--length", true), ("-l", true)],
        build: Build::Special(build),
        example,
        cost: DIGEST,
    }
}

const DIGEST: Cost =
    Cost::of("that of the digest over the printed arguments: MD5 and SHA-1 need about half of SHA-256");

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    digest("hash", "the same as sha256", build::<Sha256>, ("$(hash --length 8 abc)", "ba7816bf")),
    digest(
        "md4",
        "the MD4 digest of the arguments, joined: its first N hexadecimal digits",
        build::<Md4>,
        ("$(md4 abc)", "a448017aaf21d8525fc10ae87aa6729d"),
    ),
    digest(
        "md5",
        "the MD5 digest of the arguments, joined: its first N hexadecimal digits",
        build::<Md5>,
        ("$(md5 abc)", "900150983cd24fb0d6963f7d28e17f72"),
    ),
    digest(
        "sha1",
        "the SHA-1 digest of the arguments, joined: its first N hexadecimal digits",
        build::<Sha1>,
        ("$(sha1 abc)", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ),
    digest(
        "sha256",
        "the SHA-256 digest of the arguments, joined: its first N hexadecimal digits",
        build::<Sha256>,
        ("$(sha256 --length 8 abc)", "ba7816bf"),
    ),
    digest(
        "sha512",
        "the SHA-512 digest of the arguments, joined: its first N hexadecimal digits",
        build::<Sha512>,
        ("$(sha512 --length 8 abc)", "ddaf35a1"),
    ),
];

/// Gives the digest of a text to a closure, since digests differ in size.
type Hash = fn(&[u8], &mut dyn FnMut(&[u8]));

struct Hashed {
    /// Hexadecimal digits printed.
    digits: usize,
    args: Box<[Template]>,
    hash: Hash,
}

fn build<D: Digest>(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let digits = match call.option("--length").or_else(|| call.option("-l")) {
        None => usize::MAX,
        Some(text) => match text.parse() {
            Ok(0) => usize::MAX,
            Ok(digits) => digits,
            Err(_) => return Err(call.error(0, format!("`{text}` is no number of digits"))),
        },
    };
    call.boxed(Hashed { digits, args: call.templates(0)?, hash: |text, put| put(&D::digest(text)) })
}

impl Function for Hashed {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.args, msg, cx, |args, _| {
            (self.hash)(args.joined(), &mut |digest| {
                let end = out.len().saturating_add(self.digits);
                digest.iter().for_each(|byte| wire::escape::hex(*byte, out));
                out.truncate(end);
            });
        });
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.args.iter().for_each(|arg| arg.reads(demand));
    }
}
