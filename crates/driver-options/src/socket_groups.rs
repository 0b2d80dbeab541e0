//! Option groups of sockets, for sources and destinations.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

use super::source_groups::IDLE_TIMEOUT;
use super::{INT_MAX, SECONDS_MAX};

/// The kernel takes buffer sizes as an int.
const SOCKET_BUFFER_BYTES_MAX: u64 = i32::MAX as u64;

pub static SOCKET: Group = Group {
    name: "sockets",
    options: &[
        Opt::new(
            "so-rcvbuf",
            Kind::Size { min: 0, max: SOCKET_BUFFER_BYTES_MAX },
            Preset::Described("UDP sources: as large as the system allows; otherwise what the system gives"),
            "Bytes of the kernel's receive buffer. When the system gives less, a note says so.",
        ),
        Opt::new(
            "so-sndbuf",
            Kind::Size { min: 0, max: SOCKET_BUFFER_BYTES_MAX },
            Preset::Described("what the system gives"),
            "Bytes of the kernel's send buffer.",
        ),
        Opt::new("so-broadcast", Kind::Bool, Preset::Bool(false), "Allow broadcast addresses (UDP)."),
        Opt::new(
            "so-keepalive",
            Kind::Bool,
            Preset::Described("yes for TCP"),
            "Probe quiet connections, so that a peer that vanished is noticed.",
        )
        .alias(&["tcp-keepalive", "tcp-keep-alive"]),
        Opt::new(
            "so-reuseport",
            Kind::Bool,
            Preset::Bool(false),
            "Let several sockets listen on one port, each source with a persist-name() of its own. The kernel gives connections and \
             datagrams to them by address and port of the sender, so that one sender stays at one socket and its order is kept. One \
             socket is enough for all cores of this program; several help when the kernel's part, on the way into one socket, is the limit.",
        ),
    ],
};

/// Of sources with ports.
pub const EBPF: Opt = Opt::new(
    "ebpf",
    Kind::Block(EBPF_GROUPS),
    Preset::None,
    "`ebpf(reuseport(sockets(4)))` on the first of several sources with so-reuseport(yes) and the same port: the kernel gives each \
     datagram, or each connection, to any of them at random, so that even what one sender sends is spread. The order of its messages \
     is not kept then. The program is classic BPF, which needs no privilege.",
);

const EBPF_GROUPS: &[&Group] = &[&REUSEPORT];

static REUSEPORT: Group = Group {
    name: "ebpf",
    options: &[Opt::new(
        "reuseport",
        Kind::Block(&[&SOCKETS]),
        Preset::None,
        "How datagrams or connections are spread over the sockets of a port.",
    )],
};

static SOCKETS: Group = Group {
    name: "reuseport",
    options: &[Opt::new(
        "sockets",
        Kind::Int { min: 1, max: SOCKETS_MAX },
        Preset::Described("the number of cores"),
        "How many sources share the port.",
    )],
};

/// Sockets on one port.
pub const SOCKETS_MAX: i64 = 256;

pub static INET: Group = Group {
    name: "IP sockets",
    options: &[
        Opt::new(
            "ip-ttl",
            Kind::Int { min: 0, max: 255 },
            Preset::Int(0),
            "Time to live (hop limit) of sent packets; 0 leaves the system's.",
        ),
        Opt::new(
            "ip-tos",
            Kind::Int { min: 0, max: 255 },
            Preset::Int(0),
            "Type of service (traffic class) of sent packets; 0 leaves the system's.",
        ),
        Opt::new(
            "ip-freebind",
            Kind::Bool,
            Preset::Bool(false),
            "Bind to an address this machine does not have (yet).",
        ),
        Opt::new(
            "interface",
            Kind::Text,
            Preset::None,
            "Bind to this network interface; for a multicast group, join it there.",
        ),
        Opt::new(
            "tcp-keepalive-time",
            Kind::Seconds { min: 0, max: 32767 },
            Preset::Int(60),
            "Seconds of silence before the first probe; 0 leaves the system's.",
        ),
        Opt::new(
            "tcp-keepalive-intvl",
            Kind::Seconds { min: 0, max: 32767 },
            Preset::Int(10),
            "Seconds between probes; 0 leaves the system's.",
        ),
        Opt::new(
            "tcp-keepalive-probes",
            Kind::Int { min: 0, max: 127 },
            Preset::Int(6),
            "Probes without an answer until the connection counts as broken; 0 leaves the system's.",
        ),
        Opt::new(
            "tcp-user-timeout",
            Kind::Seconds { min: 0, max: 86_400 },
            Preset::Int(0),
            "Seconds for which what was sent may stay without an acknowledgement of the peer's kernel until the connection counts as \
             broken; 0 leaves the system's, which is some fifteen minutes.",
        ),
    ],
};

pub static STREAM: Group = Group {
    name: "connections",
    options: &[
        Opt::new(
            "max-connections",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(10),
            "The most connections at once. The oldest that has sent no message makes room for the next one; where all have, the next one is closed at once, logged and counted.",
        ),
        Opt::new(
            "keep-alive",
            Kind::Bool,
            Preset::Bool(true),
            "Keep the listening socket and its connections over a reload.",
        )
        .sample("yes"),
        Opt::new(
            "listen-backlog",
            Kind::Int { min: 1, max: 65535 },
            Preset::Described("4096, of which the system allows net.core.somaxconn"),
            "Connections the kernel holds until they are accepted: enough for all clients that come back at once.",
        ),
        IDLE_TIMEOUT,
        Opt::no_effect("dynamic-window-size", BALANCED),
        Opt::no_effect("dynamic-window-stats-freq", BALANCED),
        Opt::no_effect("dynamic-window-realloc-ticks", BALANCED),
    ],
};

const BALANCED: &str = "log-iw-size() as a whole goes to whichever connections have something, at once";

/// Options of destinations that connect.
pub static CONNECT: Group = Group {
    name: "connecting",
    options: &[
        Opt::new("keep-alive", Kind::Bool, Preset::Bool(true), "Keep the connection over a reload."),
        Opt::new(
            "close-on-input",
            Kind::Bool,
            Preset::Bool(true),
            "Close the connection when the peer sends something: a log receiver does not.",
        ),
    ],
};

/// The way of a network destination to its peer.
pub static REMOTE: Group =
    Group { name: "the way to the peer", options: &[LOCALIP.sample("127.0.0.1"), LOCALPORT] };

/// The same over IPv6.
pub static REMOTE6: Group =
    Group { name: "the way to the peer", options: &[LOCALIP.sample("\"::1\""), LOCALPORT] };

const LOCALIP: Opt =
    Opt::new("localip", Kind::Text, Preset::Described("chosen by the system"), "The address to send from.");

const LOCALPORT: Opt =
    Opt::new("localport", Kind::Port, Preset::Described("chosen by the system"), "The port to send from.");

/// Of destinations that may send datagrams.
pub static SPOOF: Group = Group {
    name: "in the name of senders",
    options: &[
        Opt::new(
            "spoof-source",
            Kind::Bool,
            Preset::Bool(false),
            "Send each datagram in the name of the sender of its message, with its address and port (UDP; needs CAP_NET_RAW). Messages \
             without an address, or with one of the other IP version, go out under this machine's. The network has to let such packets \
             pass; a datagram that does not fit into one packet on the way out is dropped and counted.",
        )
        // Of datagrams only.
        .sample("no"),
        Opt::new(
            "spoof-source-max-msglen",
            Kind::Int { min: 1, max: 65_507 },
            Preset::Int(1024),
            "With spoof-source(yes), the longest message in bytes; what is longer is cut, and counted as truncated. Up to 1472 fit into \
             a packet on most networks.",
        ),
    ],
};

/// Other servers, of a destination with connections.
pub static SERVERS: Group = Group {
    name: "other servers",
    options: &[
        Opt::new(
            "failover",
            Kind::Block(&[&FAILOVER]),
            Preset::None,
            "Other servers to send to when the first cannot be reached: \
             `failover(servers(\"b\" \"c\") failback(tcp-probe-interval(60) successful-probes-required(3)))`.",
        ),
        Opt::new(
            "failover-servers",
            Kind::TextList,
            Preset::None,
            "Other servers, as with `failover(servers(...))` and no failback. Collects.",
        )
        .collects()
        .obsolete("write `failover(servers(\"...\"))`"),
        Opt::new(
            "load-balance",
            Kind::Block(&[&LOAD_BALANCE]),
            Preset::None,
            "Send to several servers at once, each message to one of them: `load-balance(servers(\"b\" \"c\") key(\"${HOST}\"))`. The \
             others stand in for a server that is away, until it answers again. With transport(rltp), each has as many connections as \
             `rltp(connections())` says. Costs a look at each message, and with a key() its template.",
        ),
    ],
};

pub static LOAD_BALANCE: Group = Group {
    name: "load-balance",
    options: &[
        Opt::new(
            "servers",
            Kind::TextList,
            Preset::None,
            "The servers beside the first one, on the same port. Collects.",
        )
        .collects(),
        Opt::new(
            "key",
            Kind::Template,
            Preset::Described("none: messages take turns"),
            "Messages with the same key go to the same server, in their order, as long as it answers.",
        ),
    ],
};

pub static FAILOVER: Group = Group {
    name: "failover",
    options: &[
        Opt::new(
            "servers",
            Kind::TextList,
            Preset::None,
            "The servers to turn to, in order; after the last one the first is tried again. Collects.",
        )
        .collects(),
        Opt::new(
            "failback",
            Kind::Block(&[&FAILBACK]),
            Preset::None,
            "Go back to the first server when it answers again. Without it, the server in use stays until it fails.",
        ),
    ],
};

pub static FAILBACK: Group = Group {
    name: "failback",
    options: &[
        Opt::new(
            "tcp-probe-interval",
            Kind::Seconds { min: 1, max: SECONDS_MAX },
            Preset::Int(60),
            "Seconds between attempts to connect to the first server.",
        ),
        Opt::new(
            "successful-probes-required",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(3),
            "Attempts in a row that must succeed before going back.",
        ),
    ],
};
