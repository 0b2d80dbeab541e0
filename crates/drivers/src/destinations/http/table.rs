//! The options of `http()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::{SECURE_HTTP, SECURE_HTTP_DIRECT};
use http_client::proof::options::PROOFS;

const CODINGS: &[Word] = &[
    Word::new("gzip", "gzip, RFC 1952."),
    Word::new("deflate", "deflate in the form of zlib, RFC 1950."),
    Word::new("identity", "None."),
];

const VERSIONS: &[Word] = &[
    Word::new("auto", "What the server chooses over TLS (ALPN, RFC 7301), HTTP/1.1 in the clear."),
    Word::new("1.1", "HTTP/1.1, RFC 9112."),
    Word::new(
        "2",
        "HTTP/2, RFC 9113, in the clear too. A proxy for what is not encrypted is asked over HTTP/1.1.",
    ),
];

const METHODS: &[Word] = &[Word::new("post", "POST."), Word::new("put", "PUT.")];

static REQUEST: Group = Group {
    name: "requests",
    options: &[
        Opt::new(
            "url",
            Kind::TextList,
            Preset::Described("`http://localhost/`"),
            "Where requests go: `http://` or `https://`. Several, as a list or divided by blanks, share the batches; one that fails is left \
             out for time-reopen(). Each may be a template: messages for which it differs go in different batches. What a message brings in \
             belongs into `$(url-encode)`; bytes that no address may have are encoded anyway.",
        )
        .sample("\"http://127.0.0.1:9/\"")
        .alias(&["urls"]),
        Opt::new(
            "http-version",
            Kind::Choice(VERSIONS),
            Preset::Text("auto"),
            "Which HTTP is spoken. syslog-ng has no such option and does as `auto` does.",
        ),
        Opt::new("method", Kind::Choice(METHODS), Preset::Text("post"), "The method of requests."),
        Opt::new(
            "body",
            Kind::Template,
            Preset::Described("`${MESSAGE}`"), "What stands in a body for each message."),
        Opt::new(
            "body-prefix",
            Kind::Template,
            Preset::Described("nothing"),
            "What a body begins with. A template may be used; messages for which it differs go in different batches.",
        ),
        Opt::new("body-suffix", Kind::Text, Preset::Text(""), "What a body ends with."),
        Opt::new("delimiter", Kind::Text, Preset::Text("\n"), "What stands between the messages of a body."),
        Opt::new(
            "headers",
            Kind::TextList,
            Preset::None,
            "Further headers, `\"Name: value\"` each. A value may be a template; messages for which it differs go in different batches. \
             Without a `Content-Type` it is that of curl, `application/x-www-form-urlencoded`.",
        )
        .sample("\"X-Sample: a\"")
        .collects(),
        Opt::new("user", Kind::Text, Preset::None, "The name for Basic authentication."),
        Opt::new("password", Kind::Text, Preset::None, "The password that belongs to it."),
        Opt::new("user-agent", Kind::Text, Preset::Described("the name and version of this program"), "Who asks."),
        Opt::new(
            "msg-data-in-header",
            Kind::Bool,
            Preset::Bool(true),
            "Requests of a single message have the headers `X-Syslog-Host`, `X-Syslog-Program`, `X-Syslog-Facility` and `X-Syslog-Level`, \
             where no batch-lines() or batch-bytes() is given.",
        ),
        Opt::new(
            "content-compression",
            Kind::Choice(CODINGS),
            Preset::Text("identity"),
            "How bodies are compressed, at the fastest level.",
        ),
        Opt::no_effect("force-content-compression", "what content-compression() asks for is always done"),
        Opt::new(
            "accept-encoding",
            Kind::Text,
            Preset::None,
            "How answers may be compressed: `gzip`, `deflate`, `identity`, divided by commas, or `*`.",
        )
        .sample("\"gzip, deflate\""),
        Opt::new(
            "proxy",
            Kind::Text,
            Preset::Described("what `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment say"),
            "An HTTP proxy, `http://user:password@host:port`; empty for none. What is encrypted goes through a tunnel that it makes (CONNECT).",
        )
        .sample("\"http://127.0.0.1:9\""),
        Opt::new(
            "accept-redirects",
            Kind::Bool,
            Preset::Bool(false),
            "Follow up to three redirects, with the same method and body. Another server is not told the password.",
        ),
        Opt::new(
            "timeout",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(0),
            "Seconds that a request may take with all that belongs to it; 0 sets no limit. One that takes longer is sent again, and may have \
             arrived.",
        ),
        Opt::new(
            "response-action",
            Kind::Pairs,
            Preset::None,
            "What statuses mean, `404 => drop`: `success`, `drop` (the bad message, or each of them, a dead letter), `retry` (again, and halved after retries()), \
             `disconnect` (again for ever).",
        )
        .sample("404 => retry")
        .collects(),
        Opt::new(
            "response-adapter",
            Kind::Text,
            Preset::None,
            "Who reads the bodies of answers: `elasticsearch` or `opensearch` (items of `_bulk`), `splunk` (codes of its event collector), \
             `openobserve`, `google-pubsub`.",
        )
        .sample("splunk"),
        Opt::new(
            "ack",
            Kind::Bool,
            Preset::Bool(false),
            "With `response-adapter(splunk)`: a batch is delivered when the indexer says that it is safe (indexer acknowledgement), not when \
             the collector has taken it. The token must have acknowledgement turned on. Each connection has a channel of its own, \
             whatever channel() names.",
        ),
        Opt::new(
            "ack-timeout",
            Kind::Seconds { min: 1, max: SECONDS_MAX },
            Preset::Int(300),
            "With ack(): a batch that is not acknowledged within this time is sent again, and may arrive twice.",
        ),
        Opt::new(
            "flush-on-worker-key-change",
            Kind::Bool,
            Preset::Bool(false),
            "All messages of a batch have the same worker-partition-key().",
        ),
    ],
};

pub static HTTP: Component = Component {
    context: Context::Destination,
    name: "http",
    aliases: &[],
    positional: &[],
    groups: &[
        &REQUEST,
        &PROOFS,
        &BATCHES,
        #[cfg(feature = "python")]
        &super::python::HEADERS,
        &TEMPLATE,
        &DESTINATION,
        &SECURE_HTTP,
        &SECURE_HTTP_DIRECT,
    ],
    own: &[],
    presets: &[],
    not_yet: &[
        #[cfg(not(feature = "python"))]
        ("python-http-header", "there is no Python here: write headers() with templates"),
    ],
    summary: "Sends messages in the bodies of HTTP requests. A message counts as delivered when the server has answered its request with \
              success; until then it waits here. What the server refuses is halved until the message that it will not take is alone, \
              which becomes a dead letter; what it has no time for, and what a password is missing for, waits. See docs/http.md.",
    example: "http(url(\"https://logs.example.com/in\") batch-lines(1000) batch-timeout(500) user(\"me\") password(\"secret\"))",
    cost: Some(Cost::elsewhere("As `file()`, one more copy, and one request a batch: use batch-bytes().")),
};
