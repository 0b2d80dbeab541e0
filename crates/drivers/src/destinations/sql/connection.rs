//! What is said of connections to databases in words of their own libraries, and what of tls() each can do.

use super::reading::Kind;
use diag::Reported;
use driver_options::Reading;
use sql_client::TlsFiles;
use tls::Options;

/// What `dbd-option()` comes to.
#[derive(Default)]
pub struct DbdOptions {
    /// A socket in the place of host and port.
    pub socket: Option<String>,
}

pub fn dbd_options(kind: Kind, r: &mut Reading<'_>) -> Result<DbdOptions, Reported> {
    let mut options = DbdOptions::default();
    for pair in r.s.args("dbd-option").chunks(2) {
        let at = pair.first().map(|arg| arg.span);
        let (Some(name), Some(value)) =
            (pair.first().and_then(|arg| arg.text()), pair.get(1).and_then(|arg| arg.text()))
        else {
            let help = "write `dbd-option(\"name\" \"value\")`";
            return r.wrong_at(at, "dbd-option() has a name and a value", help);
        };
        let help = match (kind, name) {
            (_, "encoding")
                if ["utf8", "utf-8", "utf8mb4"].contains(&value.to_ascii_lowercase().as_str()) =>
            {
                continue;
            }
            (_, "encoding") => {
                "leave it out: texts are sent as UTF-8, which servers write in the encoding of the database"
            }
            (Kind::Mysql, "mysql_unix_socket") => {
                options.socket = Some(value.to_owned());
                continue;
            }
            (Kind::Postgres, "sslmode" | "sslrootcert" | "sslcert" | "sslkey") => {
                "write `tls(ca-file(\"...\"))`"
            }
            (Kind::Sqlite, "sqlite_dbdir" | "sqlite3_dbdir") => "write the whole path in database()",
            (Kind::Mysql, _) => "known are `encoding` and `mysql_unix_socket`",
            _ => "known is `encoding`; what a session needs can be said in session-statements()",
        };
        return r.wrong_at(at, format!("the option `{name}` of libdbi is not known here"), help);
    }
    Ok(options)
}

/// Options of tls() that the client of MySQL obeys.
const OBEYED: [&str; 4] = ["ca-file", "cert-file", "key-file", "peer-verify"];
/// Those that it does not know.
const FOREIGN: [&str; 15] = [
    "ca-dir",
    "crl-dir",
    "pkcs12-file",
    "trusted-keys",
    "trusted-fingerprints",
    "trusted-dn",
    "ssl-options",
    "ssl-version",
    "cipher-suite",
    "sigalgs",
    "client-sigalgs",
    "ecdh-curve-list",
    "keylog-file",
    "extended-key-usage-verify",
    "ocsp-stapling-verify",
];

/// The files that the client of MySQL reads.
pub fn tls_files(options: &Options, r: &mut Reading<'_>) -> Result<TlsFiles, Reported> {
    let block = r.s.block("tls").ok_or(Reported)?;
    if let Some(name) = FOREIGN.into_iter().find(|name| block.is_set(name)) {
        let text = format!("the client of MySQL cannot obey {name}()");
        let help = format!("it knows {}()", OBEYED.join("(), "));
        return r.wrong_at(block.span(name).or(r.s.span("tls")), text, &help);
    }
    Ok(TlsFiles {
        authorities: options.ca_file.clone().into_iter().collect(),
        identity: options.cert_file.clone().zip(options.key_file.clone()),
        verifies: options.peer_verify.trusted,
        checks_name: options.check_name,
    })
}
