//! A real realm of Kerberos: MIT's server of keys, where the distribution has put it.

use crate::lab::Lab;
use crate::ports::free_port;
use crate::process::Process;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no Kerberos, see `./x servers kerberos`";

pub const REALM: &str = "PENSTOCK.TEST";

pub struct Kerberos {
    dir: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Kerberos {
    /// Starts a realm without anybody in it. `lifetime`: of tickets, as `10m`.
    #[track_caller]
    pub fn start(lab: &Lab, lifetime: &str) -> Option<Kerberos> {
        let is_there = |name: &str| Path::new("/usr/sbin").join(name).exists();
        ["krb5kdc", "kdb5_util", "kadmin.local"].into_iter().all(is_there).then_some(())?;
        let dir = lab.path("kerberos");
        std::fs::create_dir_all(&dir).expect("a folder");
        let mut realm = Kerberos { dir, port: free_port(), process: None };
        let (place, port) = (realm.dir.display(), realm.port);
        let client = format!(
            "[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n \
             dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n\
             [realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{port}\n }}\n[logging]\n kdc = FILE:{place}/kdc.log\n"
        );
        let server = format!(
            "[kdcdefaults]\n kdc_listen = 127.0.0.1:{port}\n kdc_tcp_listen = 127.0.0.1:{port}\n\
             [realms]\n {REALM} = {{\n  database_name = {place}/principals\n  key_stash_file = {place}/stash\n  \
             acl_file = {place}/acl\n  max_life = {lifetime}\n }}\n"
        );
        std::fs::write(realm.settings(), client).expect("a file");
        std::fs::write(realm.dir.join("kdc.conf"), server).expect("a file");
        realm.call("/usr/sbin/kdb5_util", &["create", "-s", "-P", "master", "-r", REALM]);
        realm.run();
        Some(realm)
    }

    /// For `KRB5_CONFIG`.
    pub fn settings(&self) -> PathBuf {
        self.dir.join("krb5.conf")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("KRB5_CONFIG", self.settings()).env("KRB5_KDC_PROFILE", self.dir.join("kdc.conf"));
        command
    }

    #[track_caller]
    fn call(&self, program: &str, words: &[&str]) {
        let output = self.command(program).args(words).output().expect("a program of Kerberos");
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Starts it again, after [`Kerberos::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = self.command("/usr/sbin/krb5kdc");
        command.arg("-n");
        let process = self.process.insert(Process::spawn("krb5kdc", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            TcpStream::connect(("127.0.0.1", port)).err().map(|error| format!("Kerberos to listen: {error}"))
        });
    }

    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// Somebody new, whose keys are in a file.
    #[track_caller]
    pub fn add(&self, name: &str) -> PathBuf {
        let file = self.dir.join(format!("{}.keytab", name.replace('/', "-")));
        self.call("/usr/sbin/kadmin.local", &["-q", &format!("addprinc -randkey {name}")]);
        self.call("/usr/sbin/kadmin.local", &["-q", &format!("ktadd -k {} {name}", file.display())]);
        assert!(file.exists(), "keys of {name}");
        file
    }

    /// Tickets of somebody, in a file for `KRB5CCNAME`.
    #[track_caller]
    pub fn tickets(&self, name: &str, keytab: &Path) -> String {
        let cache = format!("FILE:{}", self.dir.join("tickets").display());
        let keytab = keytab.display().to_string();
        self.call("/usr/bin/kinit", &["-c", &cache, "-k", "-t", &keytab, name]);
        cache
    }
}
