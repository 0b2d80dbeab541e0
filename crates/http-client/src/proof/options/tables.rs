//! The tables of these options.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;

/// Pub/Sub's, whose destination stands on these options.
pub const AUDIENCE: &str = "https://pubsub.googleapis.com/google.pubsub.v1.Publisher";
pub const METADATA: &str = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts";
pub const MONITOR_SCOPE: &str = "https://monitor.azure.com//.default";
pub const LOGIN: &str = "https://login.microsoftonline.com";

/// What [`MONITOR`] has.
pub const MONITOR_NAMES: [&str; 5] = ["tenant-id", "app-id", "app-secret", "scope", "login-url"];

const METHODS: &[Word] = &[
    Word::new("basic", "In the header Authorization."),
    Word::new("post-body", "In the form, as `client_id` and `client_secret`."),
];

pub static PROOFS: Group = Group {
    name: "proving who one is",
    options: &[
        Opt::new(
            "cloud-auth",
            Kind::Block(&CLOUD_AUTH),
            Preset::None,
            "Requests have a token, `Authorization: Bearer ...`, that is fetched or signed once and renewed before it ends, and when a server \
             answers with 401. Servers of tokens are spoken to with the tls() and the proxy() of the destination. While none can be had, \
             messages wait. What azure(monitor()) has may also stand here.",
        )
        .sample("oauth2(client-id(\"a\") client-secret(\"b\") token-url(\"http://127.0.0.1:9/token\"))"),
        Opt::new(
            "azure-auth-header",
            Kind::Block(&[&SHARED_KEY]),
            Preset::None,
            "Requests are signed as Azure's HTTP Data Collector wants it: `Authorization: SharedKey ...` and `x-ms-date`.",
        ),
    ],
};

/// What is in `cloud-auth()`.
pub static CLOUD_AUTH: [&Group; 2] = [&CLOUDS, &MONITOR];

static CLOUDS: Group = Group {
    name: "clouds",
    options: &[
        Opt::new("gcp", Kind::Block(&[&GCP]), Preset::None, "Google's."),
        Opt::new("azure", Kind::Block(&[&AZURE]), Preset::None, "Microsoft's."),
        Opt::new(
            "oauth2",
            Kind::Block(&[&OAUTH2]),
            Preset::None,
            "Any server of tokens that knows client credentials (RFC 6749 section 4.4).",
        ),
    ],
};

static GCP: Group = Group {
    name: "Google",
    options: &[
        Opt::new(
            "service-account",
            Kind::Block(&[&ACCOUNT]),
            Preset::None,
            "A service account with a key: tokens are signed here, and nobody is asked.",
        ),
        Opt::new(
            "user-managed-service-account",
            Kind::Block(&[&MANAGED]),
            Preset::None,
            "An account of the virtual machine: tokens come from its server of metadata.",
        ),
    ],
};

static ACCOUNT: Group = Group {
    name: "a service account",
    options: &[
        Opt::new("key", Kind::Path, Preset::None, "The file that Google gives out for the account, JSON."),
        Opt::new(
            "audience",
            Kind::Text,
            Preset::Described("Pub/Sub's; over gRPC the service that is called"),
            "The service that tokens are good for.",
        ),
        Opt::new(
            "scope",
            Kind::Text,
            Preset::None,
            "In the place of audience(): what may be done, at whichever service.",
        ),
        Opt::new(
            "token-validity-duration",
            Kind::Int { min: 0, max: 3600 },
            Preset::Int(3600),
            "Seconds for which a token is good; it is made anew a minute before.",
        ),
    ],
};

static MANAGED: Group = Group {
    name: "an account of the machine",
    options: &[
        Opt::new("name", Kind::Text, Preset::Text("default"), "Its name."),
        Opt::new(
            "metadata-url",
            Kind::Text,
            Preset::Text(METADATA),
            "Where the accounts of the machine are; of a server alone, `host:port`, this path there. No proxy is asked.",
        ),
    ],
};

static AZURE: Group = Group {
    name: "Azure",
    options: &[Opt::new("monitor", Kind::Block(&[&MONITOR]), Preset::None, "Azure Monitor.")],
};

static MONITOR: Group = Group {
    name: "Azure Monitor",
    options: &[
        Opt::new("tenant-id", Kind::Text, Preset::None, "The tenant."),
        Opt::new("app-id", Kind::Text, Preset::None, "The registered application."),
        Opt::new("app-secret", Kind::Text, Preset::None, "Its secret."),
        Opt::new("scope", Kind::Text, Preset::Text(MONITOR_SCOPE), "What tokens are for."),
        Opt::new(
            "login-url",
            Kind::Text,
            Preset::Text(LOGIN),
            "Where tokens are asked for; other clouds of Microsoft have servers of their own. Only in penstock.",
        ),
    ],
};

static OAUTH2: Group = Group {
    name: "OAuth 2",
    options: &[
        Opt::new("client-id", Kind::Text, Preset::None, "The name of the client."),
        Opt::new("client-secret", Kind::Text, Preset::None, "Its secret."),
        Opt::new("token-url", Kind::Text, Preset::None, "Where tokens are asked for."),
        Opt::new("scope", Kind::Text, Preset::None, "What tokens are for."),
        Opt::new("resource", Kind::Text, Preset::None, "The service that tokens are for (RFC 8707)."),
        Opt::new(
            "authorization-details",
            Kind::Text,
            Preset::None,
            "What tokens are for, as JSON (RFC 9396).",
        ),
        Opt::new(
            "auth-method",
            Kind::Choice(METHODS),
            Preset::Text("basic"),
            "Where the server of tokens is shown name and secret.",
        ),
        Opt::new(
            "refresh-offset",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(60),
            "So many seconds before its end a token is fetched anew, and at the earliest when half of its time is over.",
        ),
    ],
};

static SHARED_KEY: Group = Group {
    name: "a shared key",
    options: &[
        Opt::new("workspace-id", Kind::Text, Preset::None, "The workspace of Log Analytics."),
        Opt::new("secret", Kind::Text, Preset::None, "A key of it, in base64."),
        Opt::new(
            "method",
            Kind::Text,
            Preset::Text("POST"),
            "The method that is signed, that of the requests.",
        ),
        Opt::new("path", Kind::Text, Preset::Text("/api/logs"), "The path that is signed."),
        Opt::new(
            "content-type",
            Kind::Text,
            Preset::Text("application/json"),
            "The type that is signed; headers() has to say the same.",
        ),
    ],
};
