//! The options of `logstore()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Positional, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::file_groups::{FOLLOW_SYMLINKS, TIME_REAP};
use driver_options::output_groups::{CREATE_DIRS, DESTINATION, NO_MARKS, PERMISSIONS, TEMPLATE, WRITER};

const ONE_CIPHER: &str = "leave cipher() out: stores are encrypted with AES-256-GCM";
const TWO_DIGESTS: &str = "write `digest(sha256)`, or `digest(sha1)`";

const CIPHERS: &[Word] = &[
    Word::new("aes-256-gcm", "AES-256-GCM."),
    Word::not_yet("aes-128-cbc", ONE_CIPHER),
    Word::not_yet("aes-192-cbc", ONE_CIPHER),
    Word::not_yet("aes-256-cbc", ONE_CIPHER),
    Word::not_yet("aes128", ONE_CIPHER),
    Word::not_yet("aes192", ONE_CIPHER),
    Word::not_yet("aes256", ONE_CIPHER),
    Word::not_yet("des3", ONE_CIPHER),
    Word::not_yet("blowfish", ONE_CIPHER),
];

const DIGESTS: &[Word] = &[
    Word::new("sha256", "SHA-256.").alias(&["hmac-sha256"]),
    Word::new("sha1", "SHA-1, as stores of PE have it by default. Who can choose messages could make two stores with one digest.")
        .alias(&["hmac-sha1"]),
    Word::not_yet("sha512", TWO_DIGESTS),
    Word::not_yet("md5", TWO_DIGESTS),
    Word::not_yet("md4", TWO_DIGESTS),
    Word::not_yet("ripemd160", TWO_DIGESTS),
];

const BLOCK_BYTES_MAX: u64 = 32 << 20;

static STORES: Group = Group {
    name: "store",
    options: &[
        Opt::new(
            "compress",
            Kind::Int { min: 0, max: 9 },
            Preset::Int(3),
            "How much chunks are compressed; 0 does not, 9 takes longest.",
        ),
        Opt::new(
            "encrypt-certificate",
            Kind::Path,
            Preset::None,
            "The certificate (PEM, RSA) of those who may read the store: its keys are wrapped for them, and this machine cannot read \
             what it has written. See docs/logstore.md.",
        ),
        Opt::new("cipher", Kind::Choice(CIPHERS), Preset::Text("aes-256-gcm"), "How chunks are encrypted."),
        Opt::new(
            "digest",
            Kind::Choice(DIGESTS),
            Preset::Text("sha256"),
            "The digest of the chain over all chunks. A store that was begun keeps its own.",
        ),
        Opt::new(
            "journal-block-size",
            Kind::Size { min: 1 << 10, max: BLOCK_BYTES_MAX },
            Preset::Int(1 << 20),
            "Bytes of messages that make a chunk. Until then they wait in the journal beside the store.",
        ),
        Opt::new(
            "chunk-size",
            Kind::Int { min: 1, max: (BLOCK_BYTES_MAX >> 10) as i64 },
            Preset::Described("journal-block-size()"),
            "The same in kilobytes, as older versions of PE have it.",
        ),
        Opt::new(
            "chunk-time",
            Kind::Seconds { min: 1, max: SECONDS_MAX },
            Preset::Int(5),
            "Seconds after which messages in the journal make a chunk, however few they are.",
        ),
        Opt::new(
            "timestamp-url",
            Kind::Text,
            Preset::None,
            "The authority that is asked for time stamps (RFC 3161), `http://HOST:PORT/PATH`.",
        )
        .sample("\"http://tsa.example.com/\""),
        Opt::new(
            "timestamp-freq",
            Kind::Seconds { min: 1, max: SECONDS_MAX },
            Preset::Int(60),
            "The least seconds from one request for a time stamp to the next.",
        ),
        Opt::new(
            "timestamp-policy",
            Kind::Text,
            Preset::Described("the authority's own"),
            "The policy that time stamps are to have, as object identifier.",
        )
        .sample("\"1.2.3\""),
        Opt::no_effect(
            "journal-block-count",
            "what a disk that is too slow cannot take waits in the queue of the destination",
        ),
    ],
};

pub static LOGSTORE: Component = Component {
    context: Context::Destination,
    name: "logstore",
    aliases: &[],
    positional: &[Positional {
        name: "path",
        kind: Kind::Template,
        required: true,
        help: "the path of the store, as a template",
    }],
    groups: &[&STORES, &WRITER, &TEMPLATE, &DESTINATION, &PERMISSIONS],
    own: &[CREATE_DIRS, FOLLOW_SYMLINKS, TIME_REAP],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Writes messages to a log store: a file of chunks that are compressed, encrypted where a certificate is given, and \
              chained so that what was changed shows; `penstock logstore` reads it. A message counts as delivered when it is in the \
              journal beside the store, which no kill can take away. See docs/logstore.md.",
    example: "logstore(\"/var/log/${HOST}.lgs\" compress(5) create-dirs(yes))",
    cost: Some(Cost::elsewhere("As `file()`, and compressing: about 10 us a kilobyte with compress(3).")),
};
