//! What the options of `hdfs()` come to: a cluster, who one is there, and what its files are like.

use conf_schema::Settings;
use diag::{Diagnostic, Reported};
use driver_options::Reading;
use engine::{Key, Need};
use hdfs_client::{Login, Plan, Properties};
use std::path::PathBuf;
use std::time::Duration;

/// A call that the cluster has not answered by then will not be answered.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Hadoop's files, where hdfs-resources() does not name them.
const USUAL: [&str; 2] = ["core-site.xml", "hdfs-site.xml"];
const USUAL_PORT: u16 = 8020;
/// How long the library tries namenodes in turn is bounded by ours: attempts of its own.
const ATTEMPTS: (&str, &str) = ("dfs.client.failover.max.attempts", "3");
const SECURITY: &str = "hadoop.security.authentication";

pub fn needs(s: &Settings) -> Vec<Need<'static>> {
    let option = "kerberos-keytab-file";
    let keytab = s
        .path(option)
        .map(|path| Need::Key(Key { option, what: "keytab", path: path.to_owned(), at: s.span(option) }));
    let files = resources(s).into_iter().map(|path| Need::File { option: "hdfs-resources", path });
    files.chain(keytab).collect()
}

pub fn plan(name: String, r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    let properties = properties(r)?;
    let uri = uri(&properties, r)?;
    let login = login(r)?;
    let mut options = properties.resolved();
    if properties.get(ATTEMPTS.0).is_none() {
        options.push((ATTEMPTS.0.to_owned(), ATTEMPTS.1.to_owned()));
    }
    if login.is_some() && properties.get(SECURITY).is_none() {
        options.push((SECURITY.to_owned(), "kerberos".to_owned()));
    }
    let appends = s.choice("hdfs-append-enabled") == Some("yes");
    let archive = s.text("hdfs-archive-dir").filter(|folder| !folder.is_empty()).map(str::to_owned);
    if appends && archive.is_some() {
        let text = "hdfs-archive-dir() has no effect with hdfs-append-enabled(yes): files stay where they are written on";
        let at = s.span("hdfs-archive-dir").ok_or(Reported)?;
        r.diags.push(Diagnostic::warning("D0262", text, at).help("leave one of them out"));
    }
    Ok(Plan {
        name,
        uri,
        options,
        login,
        appends,
        archive: archive.filter(|_| !appends),
        name_bytes_max: s
            .int("hdfs-max-filename-length")
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(255),
        reap: s.seconds("time-reap").filter(|time| !time.is_zero()),
        patience: PATIENCE,
    })
}

/// The files with properties.
fn resources(s: &Settings) -> Vec<PathBuf> {
    match s.text("hdfs-resources").filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            text.split(';').map(str::trim).filter(|path| !path.is_empty()).map(PathBuf::from).collect()
        }
        None => {
            let folder = std::env::var_os("HADOOP_CONF_DIR").filter(|folder| !folder.is_empty());
            let folder = folder.map(PathBuf::from);
            let usual = folder.iter().flat_map(|folder| USUAL.map(|name| folder.join(name)));
            usual.filter(|path| path.exists()).collect()
        }
    }
}

fn properties(r: &mut Reading<'_>) -> Result<Properties, Reported> {
    let s = r.s;
    let mut properties = Properties::default();
    for path in resources(s) {
        if let Err(error) = hdfs_client::read(&path, &mut properties) {
            return r.wrong(
                "hdfs-resources",
                error,
                "name Hadoop's files: `hdfs-resources(\"/etc/hadoop/hdfs-site.xml\")`",
            );
        }
    }
    Ok(properties)
}

fn uri(properties: &Properties, r: &mut Reading<'_>) -> Result<String, Reported> {
    let s = r.s;
    let help = "write `hdfs-uri(\"hdfs://host:8020\")`";
    let own = s.text("hdfs-uri").filter(|uri| !uri.is_empty());
    let Some(uri) = own.or(properties.get("fs.defaultFS")) else {
        return r.wrong("hdfs-uri", "hdfs() does not say where the cluster is", help);
    };
    let place = uri.strip_prefix("hdfs://").map(|rest| rest.trim_end_matches('/'));
    let place = place.filter(|place| !place.is_empty() && !place.contains(['/', ' ', '@', '?', '#']));
    let Some(place) = place else {
        return r.wrong("hdfs-uri", format!("`{uri}` is no address of a cluster"), help);
    };
    let port = place.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !place.ends_with(']'));
    match port {
        Some((_, port)) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(format!("hdfs://{place}")),
        Some((_, port)) => r.wrong("hdfs-uri", format!("`{port}` is no port"), help),
        None if properties.knows_service(place) => Ok(format!("hdfs://{place}")),
        None => Ok(format!("hdfs://{place}:{USUAL_PORT}")),
    }
}

fn login(r: &mut Reading<'_>) -> Result<Option<Login>, Reported> {
    let s = r.s;
    let principal = s.text("kerberos-principal").filter(|text| !text.is_empty());
    let keytab = s.path("kerberos-keytab-file").filter(|path| !path.as_os_str().is_empty());
    match (principal, keytab) {
        (Some(principal), Some(keytab)) => {
            Ok(Some(Login { principal: principal.to_owned(), keytab: keytab.display().to_string() }))
        }
        (None, None) => Ok(None),
        (given, _) => {
            let option = if given.is_some() { "kerberos-principal" } else { "kerberos-keytab-file" };
            let help = "give kerberos-principal() and kerberos-keytab-file(), or none of them";
            r.wrong(option, "Kerberos needs a name and its keys", help)
        }
    }
}
