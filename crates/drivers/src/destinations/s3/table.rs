//! The options of `s3()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::{SECURE_HTTP, SECURE_HTTP_DIRECT};
use s3_client::options::ACCOUNT;

const CLASSES: &[Word] = &[
    Word::new("standard", "STANDARD."),
    Word::new("reduced_redundancy", "REDUCED_REDUNDANCY."),
    Word::new("standard_ia", "STANDARD_IA: seldom read."),
    Word::new("onezone_ia", "ONEZONE_IA: seldom read, in one place."),
    Word::new("intelligent_tiering", "INTELLIGENT_TIERING: moved by how often it is read."),
    Word::new("glacier", "GLACIER: an archive."),
    Word::new("deep_archive", "DEEP_ARCHIVE: an archive that takes hours to read."),
    Word::new("glacier_ir", "GLACIER_IR: an archive that is read at once."),
];

const RIGHTS: &[Word] = &[
    Word::new("private", "The owner alone."),
    Word::new("public-read", "Everybody may read."),
    Word::new("public-read-write", "Everybody may read and write."),
    Word::new("aws-exec-read", "The owner, and EC2."),
    Word::new("authenticated-read", "Everybody with an account may read."),
    Word::new("bucket-owner-read", "The owner of the bucket may read."),
    Word::new("bucket-owner-full-control", "The owner of the bucket may do everything."),
    Word::new("log-delivery-write", "For buckets that get logs of access."),
];

static OBJECTS: Group = Group {
    name: "objects",
    options: &[
        Opt::new(
            "object-key",
            Kind::Template,
            Preset::None,
            "The name of objects, as a template: messages for which it differs go into different objects, and each name has a queue of its \
             own. Behind it stand a dash, the place of the first message in the queue, and object-key-suffix().",
        ),
        Opt::new("object-key-timestamp", Kind::Template, Preset::None, "A second template, which stands behind object-key(): `\"-${R_YEAR}${R_MONTH}${R_DAY}\"`."),
        Opt::new("object-key-suffix", Kind::Text, Preset::Text(".log"), "The end of the name; with compression(yes) `.gz` follows."),
        Opt::new("template", Kind::Template, Preset::Described("`${MESSAGE}` and a line end"), "A message in an object."),
        Opt::new("compression", Kind::Bool, Preset::Bool(false), "Compress objects with gzip."),
        Opt::new("compresslevel", Kind::Int { min: 0, max: 9 }, Preset::Int(9), "How much; 1 is fast, 9 takes longest."),
        Opt::new(
            "max-object-size",
            Kind::Size { min: 1 << 10, max: 5 << 40 },
            Preset::Described("16 MiB"),
            "The most bytes of messages in an object. It is acknowledged as a whole, and never larger than 16 MiB, or half of \
             `disk-buffer(capacity-bytes())`, whatever is written here.",
        )
        .sample("1048576"),
        Opt::new(
            "flush-grace-period",
            Kind::Int { min: 1, max: 60 * 24 * 30 },
            Preset::Int(60),
            "Minutes after which an object is complete that is not full, counted from its first message. Without `disk-buffer()` it is \
             complete after five seconds at the latest, since until then its messages hold their sources back.",
        ),
        Opt::new("content-type", Kind::Text, Preset::Described("none"), "The type that objects say they have.").sample("\"text/plain\""),
        Opt::new("storage-class", Kind::Choice(CLASSES), Preset::Text("standard"), "How objects are kept.").sample("standard"),
        Opt::new("canned-acl", Kind::Choice(RIGHTS), Preset::Described("that of the bucket"), "Who may do what with objects.").sample("private"),
        Opt::new("server-side-encryption", Kind::Text, Preset::Described("that of the bucket"), "How the server encrypts objects: `aws:kms`, `AES256`.")
            .sample("\"AES256\""),
        Opt::new("kms-key", Kind::Text, Preset::None, "The key of the server for `aws:kms`.").sample("\"alias/logs\""),
        Opt::new(
            "time-reopen",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("time-reopen"),
            "The longest pause, in seconds, between two attempts while the server is away or takes nothing.",
        ),
        Opt::new(
            "chunk-size",
            Kind::Size { min: 5 << 20, max: 5 << 30 },
            Preset::Int(5 << 20),
            "A larger object is uploaded in parts of this size, after compression. It is there when the last one is.",
        ),
        Opt::new("upload-threads", Kind::Int { min: 1, max: 64 }, Preset::Int(8), "Parts of an object that are on the way at the same time."),
        Opt::no_effect("max-pending-uploads", "what was not sent waits in the queue of the destination, with its bounds"),
    ],
};

pub static S3: Component = Component {
    context: Context::Destination,
    name: "s3",
    aliases: &[],
    positional: &[],
    groups: &[&ACCOUNT, &OBJECTS, &TEMPLATE, &DESTINATION, &SECURE_HTTP, &SECURE_HTTP_DIRECT],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Puts messages into objects of a bucket of S3 or of any server that speaks its protocol. A message counts as delivered when \
              the server has said that its object is complete; with a reliable disk-buffer() nothing comes twice. See docs/s3.md.",
    example: "s3(url(\"https://s3.example.com\") bucket(\"logs\") access-key(\"key\") secret-key(\"secret\") object-key(\"${HOST}/${PROGRAM}\") \
              compression(yes) disk-buffer(reliable(yes) capacity-bytes(10GiB)))",
    cost: Some(Cost::elsewhere(
        "As `file()`, a digest over each byte, and compressing where it is asked for.",
    )),
};
