//! The `tls()` block of sources and destinations.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Word};

/// Good values for tests; not all options go together.
macro_rules! sample {
    () => {
        "key-file(\"/x\") cert-file(\"/x\") ca-file(\"/x\") ca-dir(\"/x\") crl-dir(\"/x\") peer-verify(no) \
         trusted-keys(\"SHA1:00:11:22:33:44:55:66:77:88:99:00:11:22:33:44:55:66:77:88:99\") trusted-dn(\"*\") ssl-options(no-sslv2) \
         ssl-version(tlsv1-2) cipher-suite(\"TLS_AES_128_GCM_SHA256\") keylog-file(\"/x/keys\")"
    };
}

pub const SAMPLE: &str = sample!();
pub const SAMPLE_OF_CLIENT: &str = concat!("sni(yes) ", sample!());

pub static SECURE_SOURCE: Group = Group {
    name: "encryption",
    options: &[Opt::new(
        "tls",
        Kind::Block(&[&TLS]),
        Preset::None,
        "How connections are encrypted and whose are taken, with `transport(\"tls\")`: \
         `tls(key-file(\"k.pem\") cert-file(\"c.pem\") ca-file(\"ca.pem\") peer-verify(required-trusted))`. Certificates are read \
         again with each reload and serve the connections that come after it.",
    )
    .sample(SAMPLE)],
};

pub static SECURE_DESTINATION: Group = Group {
    name: "encryption",
    options: &[Opt::new(
        "tls",
        Kind::Block(&[&TLS, &TLS_CLIENT]),
        Preset::None,
        "How connections are encrypted and which servers are trusted, with `transport(\"tls\")`: \
         `tls(ca-file(\"ca.pem\") sni(yes))`. The server's certificate must be that of the host, by its alternative names, or by \
         its common name when it has none.",
    )
    .sample(SAMPLE_OF_CLIENT)],
};

pub static SECURE_HTTP: Group = Group {
    name: "encryption",
    options: &[Opt::new(
        "tls",
        Kind::Block(&[&TLS, &TLS_HTTP]),
        Preset::None,
        "How `https` is encrypted and which servers are trusted: `tls(ca-file(\"ca.pem\"))`. Without ca-file() and ca-dir() these are \
         the authorities of the system. The server is always told which host is meant.",
    )
    .sample(SAMPLE_OF_CLIENT)],
};

pub static SECURE_CLIENT: Group = Group {
    name: "encryption",
    options: &[Opt::new(
        "tls",
        Kind::Block(&[&TLS, &TLS_HTTP]),
        Preset::None,
        "How the connection is encrypted and which servers are trusted: `tls(ca-file(\"ca.pem\"))`. Without ca-file() and ca-dir() these \
         are the authorities of the system. The server's certificate must be that of the host.",
    )
    .sample(SAMPLE_OF_CLIENT)],
};

/// The same options, as they may stand beside the others.
pub static SECURE_HTTP_DIRECT: Group = Group {
    name: "encryption without tls()",
    options: &[
        Opt::new("ca-file", Kind::Path, Preset::None, "As in tls()."),
        Opt::new("ca-dir", Kind::Path, Preset::None, "As in tls()."),
        Opt::new("key-file", Kind::Path, Preset::None, "As in tls()."),
        Opt::new("cert-file", Kind::Path, Preset::None, "As in tls()."),
        Opt::new("cipher-suite", Kind::Any, Preset::None, "As in tls().")
            .sample("\"TLS_AES_128_GCM_SHA256\""),
        Opt::new("ssl-version", Kind::Choice(VERSIONS), Preset::None, "As in tls()."),
        Opt::new("peer-verify", Kind::BoolOr(PEER_VERIFY), Preset::Text("required-trusted"), "As in tls()."),
        Opt::new("ocsp-stapling-verify", Kind::Bool, Preset::Bool(false), "As in tls()."),
        USE_SYSTEM_CERT_STORE,
    ],
};

const USE_SYSTEM_CERT_STORE: Opt = Opt::new(
    "use-system-cert-store",
    Kind::Bool,
    Preset::Described("`yes` without ca-file() and ca-dir()"),
    "Trust the authorities of the system, beside those of ca-file() or ca-dir().",
);

const PEER_VERIFY: &[Word] = &[
    Word::new(
        "required-trusted",
        "The peer must show a certificate that an authority has signed; `yes` means this.",
    ),
    Word::new("required-untrusted", "It must show one; nobody looks whose."),
    Word::new("optional-trusted", "It may show none; one that it shows must be signed by an authority."),
    Word::new("optional-untrusted", "It may show one; nobody looks whose. `no` means this."),
    Word::new("none", "It is not asked for one."),
];

const SSL_OPTIONS: &[Word] = &[
    Word::new("no-sslv2", "No SSL 2; it is never spoken here."),
    Word::new("no-sslv3", "No SSL 3; it is never spoken here."),
    Word::new("no-tlsv1", "No TLS 1.0; it is never spoken here."),
    Word::new("no-tlsv11", "No TLS 1.1; it is never spoken here."),
    Word::new("no-tlsv12", "No TLS 1.2."),
    Word::new("no-tlsv13", "No TLS 1.3."),
    Word::new(
        "ignore-hostname-mismatch",
        "Of a destination: take a trusted certificate whatever host it belongs to.",
    ),
    Word::new(
        "ignore-unexpected-eof",
        "A peer may leave without ending the session. It may anyway: that is only noted when the connection closes.",
    ),
    Word::new(
        "ignore-validity-period",
        "Take trusted certificates that have expired or are not valid yet. For machines without a clock.",
    ),
    Word::new("none", "Nothing; TLS 1.2 and 1.3 are spoken."),
];

const OLD_VERSION: &str =
    "Too weak to be spoken. Of a source: TLS 1.2 and 1.3, with a warning; of a destination an error.";

const VERSIONS: &[Word] = &[
    Word::new("tlsv1-2", "TLS 1.2 and 1.3."),
    Word::new("tlsv1-3", "TLS 1.3 only."),
    Word::new("sslv3", OLD_VERSION),
    Word::new("tlsv1-0", OLD_VERSION),
    Word::new("tlsv1-1", OLD_VERSION),
];

pub static TLS: Group = Group {
    name: "TLS",
    options: &[
        Opt::new(
            "key-file",
            Kind::Path,
            Preset::None,
            "The private key of cert-file(), PEM. When it is encrypted (PKCS#8, or OpenSSL's older form), the program starts and refuses \
             connections until `syslog-ng-ctl credentials add --id FILE` has given it the passphrase, which is kept in memory only.",
        ),
        Opt::new(
            "cert-file",
            Kind::Path,
            Preset::None,
            "The certificate shown to the peer, PEM, followed by those of intermediate authorities. A source needs one. \
             A warning comes when it ends within 30 days.",
        )
        // The name that it had in riemann().
        .old(&["cert"]),
        Opt::new(
            "pkcs12-file",
            Kind::Path,
            Preset::None,
            "Key, certificate and authorities in one file (PKCS#12, also those with RC2 or triple DES from before OpenSSL 3), instead of \
             key-file() and cert-file(). A passphrase is given as for key-file().",
        ),
        Opt::new(
            "ca-file",
            Kind::Path,
            Preset::None,
            "Certificates of the authorities that are trusted, PEM.",
        )
        .old(&["cacert"]),
        Opt::new(
            "ca-dir",
            Kind::Path,
            Preset::None,
            "A folder of such files. All of them are read, with or without the hash links OpenSSL needs.",
        ),
        Opt::new(
            "crl-dir",
            Kind::Path,
            Preset::None,
            "A folder of revocation lists, PEM. Every certificate of a chain must be in the scope of a current one.",
        ),
        Opt::new(
            "peer-verify",
            Kind::BoolOr(PEER_VERIFY),
            Preset::Text("required-trusted"),
            "What is asked of the peer's certificate.",
        ),
        Opt::new(
            "trusted-keys",
            Kind::TextList,
            Preset::None,
            "Fingerprints of the certificates that are wanted, `SHA1:00:11:...` or `SHA256:...`, beside the signature of an authority.",
        ),
        Opt::new(
            "trusted-fingerprints",
            Kind::TextList,
            Preset::None,
            "Fingerprints of certificates that are trusted by themselves, `SHA256:00:11:...`: no authority is needed for these.",
        ),
        Opt::new(
            "trusted-dn",
            Kind::TextList,
            Preset::None,
            "Subjects that are wanted, as globs over `CN=host, OU=unit, O=organization, C=XX`, beside the signature of an authority.",
        ),
        Opt::new(
            "ssl-options",
            Kind::Flags(SSL_OPTIONS),
            Preset::None,
            "Versions that are not spoken, and checks that are left out.",
        ),
        Opt::new("ssl-version", Kind::Choice(VERSIONS), Preset::None, "The oldest version that is spoken."),
        Opt::new(
            "cipher-suite",
            Kind::Any,
            Preset::None,
            "Cipher suites by OpenSSL's names and words (`HIGH:!aNULL:@STRENGTH`), separated by colons, or \
             `tls12-and-older(\"...\") tls13(\"...\")`. Those that are not available are left out with a warning. A list of one \
             version leaves the other as it is.",
        ),
        Opt::new(
            "keylog-file",
            Kind::Path,
            Preset::None,
            "Write the secrets of all sessions to this file, so that Wireshark can decrypt what was captured. Only for finding errors.",
        ),
        Opt::new(
            "sigalgs",
            Kind::Text,
            Preset::None,
            "Signatures of handshakes that are made and taken, separated by colons: `ECDSA+SHA256:RSA-PSS+SHA256:ed25519`. \
             Those that are not available (SHA-1) are left out with a warning.",
        ),
        Opt::new(
            "client-sigalgs",
            Kind::Text,
            Preset::Described("sigalgs()"),
            "The same for the signatures of clients: of a source, those taken; of a destination, those made.",
        ),
        Opt::new(
            "ecdh-curve-list",
            Kind::Text,
            Preset::Described("`X25519:P-256:P-384`"),
            "Curves on which keys are agreed on, the best first, separated by colons.",
        )
        .alias(&["curve-list"]),
        Opt::new(
            "allow-compress",
            Kind::Bool,
            Preset::Bool(false),
            "A permission that no peer makes use of: TLS 1.3 has no compression, and in TLS 1.2 it gives away secrets. `yes` is taken \
             with a warning.",
        ),
        Opt::new(
            "ocsp-stapling-verify",
            Kind::Bool,
            Preset::Bool(false),
            "Of a destination: the server has to bring, within the handshake, a current answer of an OCSP responder that says its \
             certificate is good (RFC 6960), signed by the certificate's issuer or by one whom that has empowered. A server without \
             one is refused. The issuer has to be among ca-file() and ca-dir(), or come with a chain to them. Of a source: `yes` is \
             taken with a warning, clients bring no such answers. Costs one more look at the chain a handshake, nothing a message.",
        ),
        Opt::no_effect("dhparam-file", "keys are agreed on with elliptic curves only"),
        Opt::new(
            "extended-key-usage-verify",
            Kind::Bool,
            Preset::Bool(false),
            "The peer's certificate has to say that it is made for servers (of a destination) or for clients (of a source), in its \
             extended key usage. Without this, one that does not say what it is made for is taken too; one that is made for \
             something else never is, but for those trusted by themselves.",
        ),
        Opt::not_yet("openssl-conf-cmds", "leave it out: there is no OpenSSL here"),
    ],
};

pub static TLS_CLIENT: Group = Group {
    name: "TLS to a server",
    options: &[Opt::new(
        "sni",
        Kind::Bool,
        Preset::Bool(false),
        "Tell the server which host is meant, for servers of several names.",
    )],
};

pub static TLS_HTTP: Group = Group {
    name: "TLS to a server",
    options: &[
        Opt::new(
            "sni",
            Kind::Bool,
            Preset::Bool(true),
            "It is always done: servers of several names need it.",
        ),
        USE_SYSTEM_CERT_STORE,
    ],
};
