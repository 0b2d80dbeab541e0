//! What of the system a confined process needs, whatever its configuration says.

/// What a process of any configuration reads: libraries that name services load, names, zones, authorities,
/// itself.
pub const READ: [&str; 28] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/zoneinfo",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/ssl/certs",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/krb5.conf",
    "/etc/krb5.conf.d",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/run/systemd/resolve",
    "/proc",
    "/sys",
];
/// Files there are replaced by others of the same name (`/etc/resolv.conf` with a new lease, `/etc/passwd`
/// with a new user), and what is allowed are files, not names. Who reads no more there than everybody may
/// reads all of that.
pub const OF_EVERYBODY: &str = "/etc";
/// What programs are started from.
pub const RUN: [&str; 6] = ["/bin", "/sbin", "/usr", "/lib", "/lib64", "/opt"];
/// Where Python's virtual environments are looked for.
pub const ENVIRONMENTS: [&str; 2] =
    ["/var/lib/penstock/python-venv/bin", "/var/lib/syslog-ng/python-venv/bin"];
pub const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
