//! Digests of texts and bytes.

use super::encode::{DATA, data_argument, function, put_hex};
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Run};
use crate::types::Types;
use blake2::{Blake2b512, Blake2s256};
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::digest::{ExtendableOutput, XofReader};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use sm3::Sm3;
use value::Value;

pub const FUNCTIONS: &[Function] = &[
    function(
        "md5",
        DATA,
        "The MD5 digest of a text, in hexadecimal.",
        &[("md5(\"\")", "\"d41d8cd98f00b204e9800998ecf8427e\"")],
        Build::Plain(digest_text::<Md5>),
    ),
    function(
        "sha1",
        DATA,
        "The SHA-1 digest of a text, in hexadecimal.",
        &[("sha1(\"abc\")", "\"a9993e364706816aba3e25717850c26c9cd0d89d\"")],
        Build::Plain(digest_text::<Sha1>),
    ),
    function(
        "sha256",
        DATA,
        "The SHA-256 digest of a text, in hexadecimal.",
        &[("sha256(\"abc\")[..8]", "\"ba7816bf\"")],
        Build::Plain(digest_text::<Sha256>),
    ),
    function(
        "sha512",
        DATA,
        "The SHA-512 digest of a text, in hexadecimal.",
        &[("sha512(\"abc\")[..8]", "\"ddaf35a1\"")],
        Build::Plain(digest_text::<Sha512>),
    ),
    function(
        "digest",
        &[Parameter::value("data", Types::BINARY), Parameter::named("alg", Form::Text, "\"sha256\"")],
        "The digest of a text as bytes, by one of OpenSSL's names: `md5`, `sha1`, `sha224`, `sha256`, `sha384`, `sha512`, `sha512-224`, `sha512-256`, `md5-sha1`, \
         `sha3-224`, `sha3-256`, `sha3-384`, `sha3-512`, `shake128`, `shake256`, `blake2b512`, `blake2s256`, `ripemd160` or `sm3`.",
        &[
            ("hex_encode(digest(\"abc\", alg=\"md5\"))", "\"900150983cd24fb0d6963f7d28e17f72\""),
            ("hex_encode(digest(\"abc\", alg=\"SHA2-512/224\"))[..8]", "\"4634270f\""),
            ("hex_encode(digest(\"abc\", alg=\"sha3-256\"))[..8]", "\"3a985da7\""),
            ("hex_encode(digest(\"abc\", alg=\"blake2b512\"))[..8]", "\"ba80a53f\""),
        ],
        Build::Made(|args| {
            let name = args.string(1, "sha256")?;
            let Some(run) = algorithm(&name) else {
                let known: Vec<&str> = ALGORITHMS.iter().map(|(known, _)| *known).collect();
                args.wrong(1, format!("unknown algorithm: {name}"), &format!("it is one of {}", known.join(", ")));
                return None;
            };
            let data = args.value(0)?;
            args.made(DigestBy { data, run })
        }),
    )
    .returning(Types::BYTES),
];

type DigestFn = fn(&[u8]) -> Vec<u8>;

/// By the names that OpenSSL has for them.
const ALGORITHMS: [(&str, DigestFn); 19] = [
    ("md5", |data| Md5::digest(data).to_vec()),
    ("sha1", |data| Sha1::digest(data).to_vec()),
    ("sha224", |data| Sha224::digest(data).to_vec()),
    ("sha256", |data| Sha256::digest(data).to_vec()),
    ("sha384", |data| Sha384::digest(data).to_vec()),
    ("sha512", |data| Sha512::digest(data).to_vec()),
    ("sha512-224", |data| Sha512_224::digest(data).to_vec()),
    ("sha512-256", |data| Sha512_256::digest(data).to_vec()),
    ("md5-sha1", |data| [&Md5::digest(data)[..], &Sha1::digest(data)[..]].concat()),
    ("sha3-224", |data| Sha3_224::digest(data).to_vec()),
    ("sha3-256", |data| Sha3_256::digest(data).to_vec()),
    ("sha3-384", |data| Sha3_384::digest(data).to_vec()),
    ("sha3-512", |data| Sha3_512::digest(data).to_vec()),
    ("shake128", |data| of_any_length(Shake128::default(), data, 16)),
    ("shake256", |data| of_any_length(Shake256::default(), data, 32)),
    ("blake2b512", |data| Blake2b512::digest(data).to_vec()),
    ("blake2s256", |data| Blake2s256::digest(data).to_vec()),
    ("ripemd160", |data| Ripemd160::digest(data).to_vec()),
    ("sm3", |data| Sm3::digest(data).to_vec()),
];

/// A digest whose length may be chosen, with the one that OpenSSL takes.
fn of_any_length(mut state: impl ExtendableOutput, data: &[u8], len: usize) -> Vec<u8> {
    state.update(data);
    let mut digest = vec![0; len];
    state.finalize_xof().read(&mut digest);
    digest
}

/// `SHA2-256`, `SHA-256` and `sha256` are one, and so are `RIPEMD`, `rmd160` and `ripemd160`.
fn algorithm(name: &str) -> Option<DigestFn> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '/'], "");
    let name = match &*plain(name) {
        "ripemd" | "rmd160" => "ripemd160".to_owned(),
        // `sha224` and `sha256` begin with the same letters as the family.
        name => match name.strip_prefix("sha2") {
            Some(bits @ ("224" | "256" | "384" | "512" | "512224" | "512256")) => format!("sha{bits}"),
            _ => name.to_owned(),
        },
    };
    ALGORITHMS.iter().find(|(known, _)| plain(known) == name).map(|(_, run)| *run)
}

struct DigestBy {
    data: Expr,
    run: DigestFn,
}

impl Operation for DigestBy {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.data)?;
        let data = data_argument(run, &[value])?;
        let digest = (self.run)(run.batch.bytes(data));
        run.place(&digest).map(Value::Bytes)
    }
}

fn digest_text<D: Digest>(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let data = data_argument(run, args)?;
    run.made(|run, out| {
        put_hex(&D::digest(run.batch.bytes(data)), out);
        Ok(())
    })
}
