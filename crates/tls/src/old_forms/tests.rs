//! Round trips with the real openssl, in every old way it still writes.

use super::{Scheme, pkcs12, repeated};
use crate::secrets::{self, Locked};
use crate::{keys, pkcs12 as container};
use rustls_pki_types::PrivateKeyDer;
use std::path::{Path, PathBuf};
use std::process::Command;

const SECRET: &str = "größer als x";

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/fixtures").join(name)
}

/// Runs openssl; `false` when it is not there or was built without what is asked for.
fn openssl(args: &[&str], out: &Path) -> bool {
    let outcome = Command::new("openssl").args(args).arg("-out").arg(out).output();
    let done = outcome.is_ok_and(|outcome| outcome.status.success()) && out.is_file();
    if !done {
        println!("skipped: `openssl {}`", args.join(" "));
    }
    done
}

fn plain(key: &PrivateKeyDer<'_>) -> Vec<u8> {
    // What is in PKCS#8 or not is the same key: it is compared by what it can be told from.
    let provider = rustls::crypto::ring::default_provider();
    let key = provider.key_provider.load_private_key(key.clone_key()).expect("a key");
    key.public_key().expect("its public half").to_vec()
}

fn expected() -> Vec<u8> {
    plain(&keys::key(&fixture("rsa.key")).expect("a key"))
}

/// The key in this file, with the right passphrase and, which is none, with a wrong one.
#[track_caller]
fn key_opens(file: &Path, what: &str) {
    for (secret, good) in [("guess", false), (SECRET, true)] {
        secrets::keep(file, secret.as_bytes()).expect("kept");
        match keys::key(file) {
            Ok(key) => assert!(good && plain(&key) == expected(), "{what}"),
            Err(Locked::Waits(error)) => {
                assert!(!good && error.said().contains("the passphrase is wrong"), "{what}: {error}")
            }
            Err(Locked::Broken(error)) => panic!("{what}: {error}"),
        }
    }
}

#[test]
fn keys_in_the_form_of_old_openssl() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = fixture("rsa.key").display().to_string();
    for cipher in ["aes128", "aes192", "aes256", "des", "des3"] {
        let file = folder.path().join(cipher);
        let (flag, pass) = (format!("-{cipher}"), format!("pass:{SECRET}"));
        // Single DES is among what openssl keeps for old times' sake.
        let legacy = ["-provider", "legacy", "-provider", "default"];
        let args = ["rsa", "-in", &key, &flag, "-traditional", "-passout", &pass];
        if openssl(&[&args[..], &legacy[..]].concat(), &file) {
            key_opens(&file, cipher);
        }
    }
}

#[test]
fn keys_with_pbes1() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = fixture("rsa.key").display().to_string();
    for scheme in [
        "PBE-MD5-DES",
        "PBE-MD5-RC2-64",
        "PBE-SHA1-DES",
        "PBE-SHA1-RC2-64",
        "PBE-SHA1-3DES",
        "PBE-SHA1-2DES",
        "PBE-SHA1-RC2-128",
        "PBE-SHA1-RC2-40",
    ] {
        let file = folder.path().join(scheme);
        let pass = format!("pass:{SECRET}");
        let args = ["pkcs8", "-topk8", "-in", &key, "-v1", scheme, "-passout", &pass];
        if openssl(&[&args[..], &["-provider", "legacy", "-provider", "default"]].concat(), &file) {
            key_opens(&file, scheme);
        }
    }
}

#[test]
fn containers_of_old_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let [key, cert, ca] = ["rsa.key", "rsa.pem", "ca.pem"].map(|name| fixture(name).display().to_string());
    let ways =
        ["PBE-SHA1-RC2-40", "PBE-SHA1-RC2-128", "PBE-SHA1-3DES", "PBE-SHA1-2DES", "AES-256-CBC", "NONE"];
    for (at, way) in ways.iter().enumerate() {
        let key_way = ways[(at + 2) % 5];
        let file = folder.path().join(way);
        let pass = format!("pass:{SECRET}");
        let args = ["pkcs12", "-legacy", "-export", "-inkey", &key, "-in", &cert, "-certfile", &ca];
        let ways = ["-certpbe", way, "-keypbe", key_way, "-passout", &pass];
        if !openssl(&[&args[..], &ways].concat(), &file) {
            continue;
        }
        for (secret, good) in [("guess", false), (SECRET, true)] {
            secrets::keep(&file, secret.as_bytes()).expect("kept");
            match container::open(&file) {
                Ok(found) => {
                    assert!(good && plain(&found.key) == expected(), "{way} {key_way}");
                    assert_eq!(found.chain.len(), 2, "{way} {key_way}");
                }
                Err(Locked::Waits(error)) => {
                    assert!(
                        !good && error.said().contains("the passphrase is wrong"),
                        "{way} {key_way}: {error}"
                    );
                }
                Err(Locked::Broken(error)) => panic!("{way} {key_way}: {error}"),
            }
        }
    }
    // Without a passphrase it opens by itself.
    let file = folder.path().join("open");
    let args = ["pkcs12", "-legacy", "-export", "-inkey", &key, "-in", &cert, "-passout", "pass:"];
    if openssl(&args, &file) {
        assert_eq!(plain(&container::open(&file).expect("open").key), expected());
    }
}

/// RFC 7292 has no vectors of its own; these are OpenSSL's (test/recipes, PKCS12KDF), known to many
/// libraries.
#[test]
fn derivations() {
    let password: Vec<u8> = "smeg".encode_utf16().chain([0]).flat_map(u16::to_be_bytes).collect();
    let key = pkcs12(1, &password, &[0x0a, 0x58, 0xcf, 0x64, 0x53, 0x0d, 0x82, 0x3f], 1, 24);
    let expected: &[u8] =
        b"\x8a\xaa\xe6\x29\x7b\x6c\xb0\x46\x42\xab\x5b\x07\x78\x51\x28\x4e\xb7\x12\x8f\x1a\x2a\x7f\xbc\xa3";
    assert_eq!(key.as_slice(), expected);
    let iv = pkcs12(2, &password, &[0x0a, 0x58, 0xcf, 0x64, 0x53, 0x0d, 0x82, 0x3f], 1, 8);
    assert_eq!(iv.as_slice(), b"\x79\x99\x3d\xfe\x04\x8d\x3b\x76");
    // One round is the digest itself.
    assert_eq!(repeated::<sha1::Sha1>(b"a", b"bc", 1)[..4], [0xa9, 0x99, 0x3e, 0x36]);
}

#[test]
fn what_is_not_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let pem = |info: &str, body: &str| {
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{info}\n\n{body}\n-----END RSA PRIVATE KEY-----\n"
        )
    };
    for (name, text, expected) in [
        ("seed", pem("DEK-Info: SEED-CBC,0011223344556677", "AAAA"), "`SEED-CBC` is not known here"),
        ("bare", pem("Other: 1", "AAAA"), "it does not say how"),
        ("short", pem("DEK-Info: DES-CBC,0011", "AAAA"), "its DEK-Info is damaged"),
        ("body", pem("DEK-Info: DES-CBC,0011223344556677", "A*"), "its base64 is damaged"),
    ] {
        let Err(Locked::Broken(error)) = keys::key(&file(name, &text)) else { panic!("{name} is read") };
        assert!(error.said().contains(expected) && error.said().contains("openssl pkcs8 -topk8"), "{error}");
    }
    // A damaged body is a passphrase that does not fit.
    let damaged = file("damaged", &pem("DEK-Info: AES-256-CBC,00112233445566770011223344556677", "AAAA"));
    secrets::keep(&damaged, b"x").expect("kept");
    assert!(matches!(keys::key(&damaged), Err(Locked::Waits(_))));
    let endless =
        [&[48, 29, 6, 10, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 3][..], &[48, 15, 4, 8]].concat();
    for (rounds, good) in [([2, 3, 1, 0, 0], true), ([2, 3, 0xff, 0, 0], false), ([2, 3, 0, 0, 0], false)] {
        let identifier = [&endless[..], &[0; 8], &rounds[..]].concat();
        assert_eq!(Scheme::read(&identifier).is_some(), good, "{rounds:?}");
    }
}
