//! The tables of these options.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};
use driver_options::tls_groups::SECURE_CLIENT;
use driver_options::{INT_MAX, SECONDS_MAX};
use http_client::proof::options::CLOUD_AUTH;

static ACCOUNT: Group = Group {
    name: "a service account",
    options: &[
        Opt::new("key", Kind::Path, Preset::None, "The file that Google gives out for the account, JSON.")
            .sample("/x"),
        Opt::new(
            "token-validity-duration",
            Kind::Int { min: 0, max: 3600 },
            Preset::Int(3600),
            "Seconds for which a token is good; it is made anew a minute before.",
        ),
    ],
};

static DEFAULT_CREDENTIALS: Group = Group {
    name: "default credentials",
    options: &[Opt::new(
        "service-account-key",
        Kind::Path,
        Preset::Described("see adc()"),
        "The file that Google gives out for an account, JSON, in the place of the one that the environment names.",
    )
    .sample("/x")],
};

static AUTH: Group = Group {
    name: "proving who one is",
    options: &[
        Opt::new("insecure", Kind::Any, Preset::None, "Nothing is encrypted, as without auth().").sample(""),
        Opt::new("alts", Kind::Any, Preset::None, "Google's own protocol: refused.").sample(""),
        Opt::new(
            "adc",
            Kind::Block(&[&DEFAULT_CREDENTIALS]),
            Preset::None,
            "Google's default credentials: the key of a service account that GOOGLE_APPLICATION_CREDENTIALS names, or that Google's tools have \
             left in the home of the user; else an account of the virtual machine, whose server of metadata is asked. The connection is \
             encrypted, as with tls().",
        )
        .sample("service-account-key(\"/x\")"),
        Opt::new(
            "service-account",
            Kind::Block(&[&ACCOUNT]),
            Preset::None,
            "A service account of Google: each call has a token that its key has signed, and is encrypted, as with tls().",
        )
        .sample("key(\"/x\")"),
    ],
};

static KEEP_ALIVE: Group = Group {
    name: "signs of life",
    options: &[
        Opt::new(
            "time",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::None,
            "Milliseconds after which a server from which nothing came is asked for a sign of life; at least 1000.",
        ),
        Opt::new(
            "timeout",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Int(20_000),
            "Milliseconds that it has for that.",
        ),
        Opt::new(
            "max-pings-without-data",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Int(2),
            "0: it is asked between calls too.",
        ),
    ],
};

/// Where a server is.
pub static ADDRESS: Group = Group {
    name: "the server",
    options: &[Opt::new("url", Kind::Text, Preset::Described("see the example"), "The server, `host:port`.")
        .sample("\"127.0.0.1:9\"")],
};

static IN_AUTH: [&Group; 2] = [&AUTH, &SECURE_CLIENT];
static IN_KEEP_ALIVE: [&Group; 1] = [&KEEP_ALIVE];

const PROOF: Opt = Opt::new(
    "auth",
    Kind::Block(&IN_AUTH),
    Preset::None,
    "`auth(tls(ca-file(\"ca.pem\")))` encrypts, with all options of tls(); `auth(tls())` trusts the authorities of the system. Without \
     it, or with `auth(insecure())`, nothing is encrypted.",
)
.sample("insecure()");

const TOKENS: Opt = Opt::new(
    "cloud-auth",
    Kind::Block(&CLOUD_AUTH),
    Preset::None,
    "Calls have a token, `authorization: Bearer ...`, that is fetched or signed once and renewed before it ends, and when the server does not \
     believe it. The connection is encrypted, as with `auth(tls())`, unless `auth(insecure())` is written. Servers of tokens are spoken to \
     with the tls() of auth(), through the proxy that the environment names. While no token can be had, messages wait.",
)
.sample("oauth2(client-id(\"a\") client-secret(\"b\") token-url(\"http://127.0.0.1:9/token\"))");

const SIGNS: Opt = Opt::new(
    "keep-alive",
    Kind::Block(&IN_KEEP_ALIVE),
    Preset::Described("the kernel's, every minute"),
    "Whether the server lives is found out by pings: `keep-alive(time(30000) timeout(10000) max-pings-without-data(0))`.",
)
.sample("time(30000)");

const ARGUMENTS: Opt = Opt::new(
    "channel-args",
    Kind::Pairs,
    Preset::None,
    "Arguments of grpc by its names, `\"grpc.keepalive_time_ms\" => 30000`. One that has no meaning here is an error that lists those \
     that have.",
)
.collects()
.sample("\"grpc.keepalive_time_ms\" => 30000");

const PATIENCE: Opt = Opt::new(
    "timeout",
    Kind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Int(60),
    "Seconds that a call may take; the server is told. One that takes longer is sent again, and may have arrived. 0 is the preset. Only \
     in penstock.",
);

/// How it is called.
pub static GRPC: Group = Group {
    name: "calls",
    options: &[
        PROOF,
        TOKENS,
        Opt::new("compression", Kind::Bool, Preset::Bool(false), "Batches are compressed with gzip, at its fastest level."),
        SIGNS,
        ARGUMENTS,
        Opt::new(
            "response-action",
            Kind::Pairs,
            Preset::None,
            "What statuses mean, `unavailable => drop`: `success`, `drop` (each message a dead letter), `retry` (again, and halved after \
             retries()), `disconnect` (again for ever).",
        )
        .collects()
        .sample("internal => retry"),
        PATIENCE,
    ],
};

/// How a source calls that fetches its messages.
pub static FETCHING: Group = Group { name: "calls", options: &[PROOF, TOKENS, SIGNS, ARGUMENTS, PATIENCE] };

pub static HEADERS: Group = Group {
    name: "headers",
    options: &[Opt::new(
        "headers",
        Kind::Pairs,
        Preset::None,
        "Headers of calls, `\"name\" => \"template\"`. Messages for which they differ go in different batches; values of names that end \
         with `-bin` may be any bytes.",
    )
    .collects()
    .sample("\"x-sample\" => \"a\"")],
};
