//! `test-ca`: an authority and certificates for trying TLS, made from nothing. Not a public key
//! infrastructure: nothing is revoked, renewed or kept secret here.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use control::cli::TestCaArgs;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};

use stdio::CommandError;

/// The authority outlives what it signs.
const AUTHORITY_DAYS: u32 = 3650;
/// Clocks differ: valid since yesterday.
const BACKDATED: Duration = Duration::from_secs(86_400);
const AUTHORITY: &str = "ca";

pub fn run(args: &TestCaArgs) -> ExitCode {
    match make(args) {
        Ok(text) => {
            crate::printing::print(&text);
            ExitCode::SUCCESS
        }
        Err(error) => error.at("penstock test-ca").report(),
    }
}

/// The certificate of a server at this machine: `localhost.pem` and `localhost.key` in the folder.
pub fn of_this_machine(folder: &Path) -> Result<(), CommandError> {
    let server = vec!["localhost".to_owned()];
    make(&TestCaArgs { folder: folder.to_owned(), server, client: Vec::new(), days: 1 }).map(|_| ())
}

/// Makes what is asked for; what to write into the two configurations.
fn make(args: &TestCaArgs) -> Result<String, CommandError> {
    let (mut servers, mut clients) = (args.server.clone(), args.client.clone());
    if servers.is_empty() && clients.is_empty() {
        servers.push("localhost".to_owned());
        clients.push("client".to_owned());
    }
    for name in servers.iter().chain(&clients) {
        let good = name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:*".contains(c));
        if name.is_empty() || name == AUTHORITY || name.starts_with('.') || !good {
            return Err(format!("`{name}` is no name for a certificate and its file").into());
        }
    }
    std::fs::create_dir_all(&args.folder).map_err(|e| format!("{}: {e}", args.folder.display()))?;
    let issuer = authority(&args.folder)?;
    for name in &servers {
        sign(&args.folder, &issuer, name, args.days, ExtendedKeyUsagePurpose::ServerAuth)?;
    }
    for name in &clients {
        sign(&args.folder, &issuer, name, args.days, ExtendedKeyUsagePurpose::ClientAuth)?;
    }
    Ok(told(&args.folder, servers.first(), clients.first()))
}

/// The authority of this folder: the one that is there, or a new one.
fn authority(folder: &Path) -> Result<Issuer<'static, KeyPair>, CommandError> {
    let (cert, key) = (folder.join("ca.pem"), folder.join("ca.key"));
    let mut params = params(Vec::new(), "penstock test authority", AUTHORITY_DAYS)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    match (cert.exists(), key.exists()) {
        (true, true) => {
            let text = std::fs::read_to_string(&key).map_err(|e| format!("{}: {e}", key.display()))?;
            let pair = KeyPair::from_pem(&text).map_err(|e| format!("{}: {e}", key.display()))?;
            Ok(Issuer::new(params, pair))
        }
        (false, false) => {
            let pair = KeyPair::generate().map_err(|e| e.to_string())?;
            let made = params.self_signed(&pair).map_err(|e| e.to_string())?;
            write(&cert, &made.pem(), 0o644)?;
            write(&key, &pair.serialize_pem(), 0o600)?;
            Ok(Issuer::new(params, pair))
        }
        _ => Err(format!("{} has only one of ca.pem and ca.key", folder.display()).into()),
    }
}

fn params(hosts: Vec<String>, name: &str, days: u32) -> Result<CertificateParams, CommandError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| "the clock stands before 1970")?;
    let mut params = CertificateParams::new(hosts).map_err(|e| format!("{name}: {e}"))?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let since = date_time_ymd(1970, 1, 1) + now;
    params.not_before = since - BACKDATED;
    params.not_after = since + Duration::from_secs(u64::from(days) * 86_400);
    Ok(params)
}

fn sign(
    folder: &Path,
    issuer: &Issuer<'static, KeyPair>,
    name: &str,
    days: u32,
    purpose: ExtendedKeyUsagePurpose,
) -> Result<(), CommandError> {
    let mut hosts = vec![name.to_owned()];
    if name == "localhost" {
        hosts.extend(["127.0.0.1".to_owned(), "::1".to_owned()]);
    }
    let mut params = params(hosts, name, days)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.use_authority_key_identifier_extension = true;
    let pair = KeyPair::generate().map_err(|e| e.to_string())?;
    let made = params.signed_by(&pair, issuer).map_err(|e| format!("{name}: {e}"))?;
    write(&folder.join(format!("{name}.pem")), &made.pem(), 0o644)?;
    write(&folder.join(format!("{name}.key")), &pair.serialize_pem(), 0o600)
}

/// Replaces the file as a whole: a program that reads it meanwhile finds the old one or the new one.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), CommandError> {
    let beside = path.with_added_extension("new");
    let failed = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    // What an attempt before left behind may have other permissions.
    let _ = std::fs::remove_file(&beside);
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(&beside).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(std::fs::rename(&beside, path).map_err(failed)?)
}

fn told(folder: &Path, server: Option<&String>, client: Option<&String>) -> String {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let folder = folder.display();
    let block = |name: &str| {
        format!(
            "tls(key-file(\"{folder}/{name}.key\") cert-file(\"{folder}/{name}.pem\") ca-file(\"{folder}/ca.pem\"))"
        )
    };
    let mut text = String::new();
    if let Some(name) = server {
        text.push_str(&format!(
            "# The server\nsource s_tls {{ syslog(transport(\"tls\") port(6514)\n    {}); }};\n",
            block(name)
        ));
    }
    if let Some(name) = client {
        let host = server.map_or("log.example.com", String::as_str);
        text.push_str(&format!(
            "# Its clients\ndestination d_tls {{ syslog(\"{host}\" transport(\"tls\") port(6514)\n    {}); }};\n",
            block(name)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn args(folder: &Path, server: &[&str], client: &[&str]) -> TestCaArgs {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        TestCaArgs { folder: folder.to_owned(), server: owned(server), client: owned(client), days: 2 }
    }

    #[test]
    fn files_and_what_to_do_with_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = make(&args(folder.path(), &[], &[])).expect("made");
        assert!(
            text.contains("localhost.key") && text.contains("client.pem") && text.contains("ca.pem"),
            "{text}"
        );
        let mode = std::fs::metadata(folder.path().join("client.key")).expect("a key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_authority_is_kept_and_what_it_signs_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
        make(&args(folder.path(), &["a"], &[])).expect("made");
        let (ca, first) = (read("ca.pem"), read("a.pem"));
        make(&args(folder.path(), &["a", "192.0.2.1"], &["c"])).expect("made");
        assert_eq!(read("ca.pem"), ca);
        assert_ne!(read("a.pem"), first);
        assert!(read("192.0.2.1.pem").contains("BEGIN CERTIFICATE") && read("c.key").contains("PRIVATE KEY"));
        std::fs::remove_file(folder.path().join("ca.key")).expect("removed");
        assert!(make(&args(folder.path(), &["a"], &[])).expect_err("half").said().contains("only one of"));
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["../x", "a/b", "", ".hidden", "ca", "a b"] {
            assert!(make(&args(folder.path(), &[name], &[])).is_err(), "{name}");
        }
    }
}
