//! `unix-stream()` and `unix-dgram()`: messages of programs on this machine, as `/dev/log`.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::needs;
use driver_options::output_groups::{CREATE_DIRS, PERMISSIONS};
use driver_options::ownership::ownership;
use driver_options::socket_groups::{SOCKET, STREAM};
use driver_options::sockets::{generation, unix_socket_options};
use driver_options::source_groups::{MULTILINE, NO_CONNECTIONS, READER, READER_FLAGS, SOURCE};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Made, Need, Privilege, Shared};
use intake::datagram::{DatagramOptions, DatagramPort, Origin, Processes};
use intake::listener::{Accepted, Listener, Permits, Socket, backlog};
use intake::optional::Optional;
use intake::reading::{Defaults, NO_HOSTNAME_SINCE, Reading, location};
use intake::senders::PeerFacts;
use intake::socket_file::SocketFile;
use record::Transport;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use transport::{Ownership, SocketOptions};
use wire::Framing;

pub const PARTS: &[SourcePart] = &[
    SourcePart::new(&UNIX_STREAM, unix_stream).needing(needed),
    SourcePart::new(&UNIX_DGRAM, unix_dgram).needing(needed),
];

const SOCKET_PATH: &[Positional] =
    &[Positional { name: "path", kind: Kind::Path, required: true, help: "the path of the socket" }];

const UNIX: &[Opt] = &[
    Opt::new(
        "so-passcred",
        Kind::Bool,
        Preset::Bool(true),
        "Ask the kernel who sends: `${.unix.pid}`, `${.unix.uid}`, `${.unix.gid}`, `${.unix.cmdline}`, `${.unix.exe}`.",
    )
    .alias(&["local-creds"])
    .old(&["pass-unix-credentials"]),
    Opt::new(
        "optional",
        Kind::Bool,
        Preset::Bool(false),
        "Start although the socket cannot be made.",
    ),
    CREATE_DIRS,
];

const UNIX_MODE: (&str, Preset) = ("perm", Preset::Perm(0o666));

static UNIX_STREAM: Component = Component {
    context: Context::Source,
    name: "unix-stream",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&READER_FLAGS, &READER, &SOURCE, &STREAM, &SOCKET, &PERMISSIONS, &MULTILINE],
    own: UNIX,
    presets: &[UNIX_MODE, ("max-connections", Preset::Int(256)), ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Receives lines from programs on this machine over a unix stream socket. No host name is expected in \
              the messages.",
    example: "unix-stream(\"/run/penstock/stream\" perm(0600) max-connections(64))",
    cost: Some(Cost::elsewhere(
        "As a connection of `network()`. Who is at the other end is asked once a connection.",
    )),
};

static UNIX_DGRAM: Component = Component {
    context: Context::Source,
    name: "unix-dgram",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&READER_FLAGS, &READER, &SOURCE, &SOCKET, &PERMISSIONS, &MULTILINE, &NO_CONNECTIONS],
    own: UNIX,
    presets: &[UNIX_MODE, ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Receives datagrams from programs on this machine over a unix socket, as `/dev/log`. No host name is \
              expected in the messages.",
    example: "unix-dgram(\"/run/penstock/log\" so-rcvbuf(1MiB))",
    cost: Some(Cost::elsewhere(
        "Many datagrams are taken with one system call. Who sent one is looked up once for each process and kept for some seconds.",
    )),
};

fn unix_stream(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build(true, s, cx, diags)
}

fn unix_dgram(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build(false, s, cx, diags)
}

struct UnixStart {
    stream: bool,
    path: PathBuf,
    optional: Optional,
    create_dirs: bool,
    ownership: Ownership,
    socket: SocketOptions,
    backlog: i32,
    connections_max: usize,
    reading: Reading,
    location: String,
}

fn needed(s: &Settings) -> Vec<Need<'static>> {
    let made = s.path("path").into_iter().flat_map(|path| needs::of_ownership(s, path.to_owned()));
    // `.unix.exe` of a sender.
    made.chain([Need::Privilege(Privilege::Processes)]).collect()
}

fn build(
    stream: bool,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    let path = s.path("path").ok_or(Reported)?.to_owned();
    let defaults = Defaults {
        framing: if stream { Framing::Lines } else { Framing::Datagram },
        syslog_protocol: false,
        expect_hostname: cx.version < NO_HOSTNAME_SINCE,
        local: true,
    };
    let mut reading = Reading::new(s, cx, &defaults, diags);
    reading.credentials &= s.bool("so-passcred").unwrap_or(true);
    let connections_max = if stream { s.int("max-connections").unwrap_or(256).max(1) as usize } else { 1 };
    if stream {
        reading.idle_timeout = s.seconds("idle-timeout").filter(|t| !t.is_zero());
        reading.share_window(connections_max, cx.globals);
    }
    let socket = unix_socket_options(s);
    let ownership = ownership(s, diags);
    let create_dirs = s.bool("create-dirs").unwrap_or(false);
    let backlog = if stream { backlog(s) } else { 0 };
    let keep_alive = !stream || s.bool("keep-alive").unwrap_or(true);
    let opened_with = match keep_alive {
        true => format!("{socket:?} {ownership:?} {connections_max} {backlog} {}", reading.fixed()),
        // Never equal to another: everything is opened anew with each reload.
        false => generation().to_string(),
    };
    let (driver, kind) = if stream { ("unix-stream", "stream") } else { ("unix-dgram", "dgram") };
    let shown = path.display().to_string();
    let key =
        reading.persist_name.clone().unwrap_or_else(|| format!("afsocket_sd.({kind},AF_UNIX({shown}))"));
    let optional = Optional::new(s.bool("optional").unwrap_or(false), &key, &location(s, cx));
    let (parsing, finish, share) = (reading.syslog.clone(), reading.finish.clone(), reading.share);
    Ok(SourceDriver {
        key,
        opened_with: format!("{shown} {opened_with} {}", optional.attempt()),
        driver,
        instance: format!("{driver},{shown}"),
        carrier: match stream {
            true => Carrier::Connections {
                address: format!("AF_UNIX({shown})"),
                persist_name: reading.persist_name.clone(),
            },
            false => Carrier::Datagrams,
        },
        settings: Box::new(move |program| {
            SourceSettings::new(parsing.clone(), finish.clone(), program).shared(share)
        }),
        start: Box::new(UnixStart {
            stream,
            path,
            optional,
            create_dirs,
            ownership,
            socket,
            backlog,
            connections_max,
            reading,
            location: location(s, cx),
        }),
    })
}

impl Start for UnixStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        self.optional.settle(self.open(shared, source))
    }

    fn needs(&self) -> Vec<Need<'_>> {
        // Nothing ends for want of an optional source.
        if self.optional.is() {
            return Vec::new();
        }
        vec![Need::Place { path: self.path.clone(), what: Made::Socket, create_dirs: self.create_dirs }]
    }
}

impl UnixStart {
    fn open(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let failed = |e: std::io::Error| self.explain(&e);
        if self.create_dirs {
            transport::create_parents(&self.path, &self.ownership).map_err(failed)?;
        }
        let mode = self.ownership.perm;
        match self.stream {
            true => {
                let listener =
                    transport::listen_unix(&self.path, &self.socket, mode, self.backlog).map_err(failed)?;
                let file = self.own().map_err(failed)?;
                Listener::start(Socket::Unix(listener, file), source, Arc::new(self.accepted()), shared)
            }
            false => {
                let socket = transport::bind_unix_datagram(&self.path, &self.socket, mode).map_err(failed)?;
                let file = self.own().map_err(failed)?;
                let reading = &self.reading;
                if reading.credentials {
                    transport::mmsg::pass_credentials(&socket).map_err(failed)?;
                }
                let processes =
                    Processes::new(Arc::clone(&reading.group), Arc::clone(&reading.local_name), file);
                let options = DatagramOptions {
                    framing: reading.framing,
                    encoding: reading.encoding,
                    window_messages: reading.window_messages,
                };
                DatagramPort::start(OwnedFd::from(socket), Origin::Unix(processes), options, source, shared)
            }
        }
    }

    fn own(&self) -> std::io::Result<SocketFile> {
        let file = SocketFile::new(&self.path);
        if !transport::inherited::is_managed(&self.path) {
            transport::apply_ownership(&self.path, &self.ownership).inspect_err(|_| file.remove())?;
        }
        Ok(file)
    }

    fn accepted(&self) -> Accepted {
        let reading = &self.reading;
        let transport = Transport("local+unix-stream");
        Accepted {
            framing: reading.framing,
            multi_line: None,
            idle_timeout: reading.idle_timeout,
            fetch_limit: reading.fetch_limit,
            encoding: reading.encoding,
            socket: self.socket.clone(),
            permits: Permits::new(self.connections_max),
            facts: PeerFacts { group: Arc::clone(&reading.group), transport, ip_protocol: 0 },
            naming: reading.naming.clone(),
            local_name: Arc::clone(&reading.local_name),
            credentials: reading.credentials,
            location: self.location.clone(),
            secure: None,
            protocol: None,
        }
    }

    fn explain(&self, error: &std::io::Error) -> Fault {
        let shown = self.path.display();
        let journal = std::fs::read_link(&self.path).is_ok_and(|to| to.starts_with("/run/systemd/journal"));
        let remedy = match error.kind() {
            _ if journal => {
                "; it leads to the journal's socket: set ForwardToSyslog=yes in journald.conf and read \
                 unix-dgram(\"/run/systemd/journal/syslog\")"
            }
            ErrorKind::NotFound => "; its folder does not exist: make it, or add create-dirs(yes)",
            ErrorKind::PermissionDenied => "; the user penstock runs as may not make files there",
            ErrorKind::AddrInUse => {
                "; stop the other program (`ss -xlp` shows which), or choose another path"
            }
            ErrorKind::AlreadyExists => "; remove it, or choose another path",
            _ => "",
        };
        Fault::local(format!("cannot listen on {shown}: {error}{remedy}"))
    }
}

#[cfg(test)]
mod tests;
