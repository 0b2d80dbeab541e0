//! The codes of the drivers: (code, title, what it means and what to do). Feeds docs/errors.md.

pub const CODES: &[(&str, &str, &str)] = &[
    ("D0101", "too many tags", "The table of tags of the process is full. Use fewer different ones."),
    ("D0102", "wrong bad-hostname()", "The regular expression is not valid; the message says where."),
    (
        "D0103",
        "not an address",
        "The address to bind is not one, is of the other IP version, or its name cannot be resolved. Write an address of this machine, or \
         none to listen on all of them.",
    ),
    ("D0104", "unknown service", "The name of a port is not in /etc/services. Write its number."),
    ("D0105", "unknown type of a template", "The help names the nearest type there is."),
    ("D0106", "wrong template", "The text of a template does not compile; the message says where and why."),
    (
        "D0107",
        "no such user or group",
        "The owner or group of a file or socket is not known to this system; what is made keeps the owner or group of the program, as in \
         syslog-ng. Create the user or group, write a number, or leave the option out. `# allow D0107` silences it.",
    ),
    (
        "D0108",
        "not a name of a value",
        "values() sets name-value pairs; the name is that of a macro computed from other values. Choose another name.",
    ),
    (
        "D0110",
        "wrong failover() or load-balance()",
        "Both need a transport with connections, and servers() with at least one host.",
    ),
    (
        "D0111",
        "wrong pattern of file names",
        "Patterns of file names have `*` and `?`, and match names without their folders.",
    ),
    (
        "D0112",
        "wrong multi-line expression",
        "multi-line-prefix(), multi-line-garbage() and multi-line-suffix() are regular expressions; the message says where this one is wrong.",
    ),
    (
        "D0113",
        "wrong multi-line-mode()",
        "The mode needs an expression that says where a message begins or ends, and a transport whose messages are lines.",
    ),
    (
        "D0114",
        "wildcard-file() without files",
        "Say in base-dir() which folder and in filename-pattern() which files.",
    ),
    (
        "D0115",
        "namespace() with directory()",
        "namespace() chooses among the folders of this machine's journal; directory() names another folder. Leave one of them out.",
    ),
    (
        "D0120",
        "wrong tls()",
        "transport(tls) needs a tls() block that fits: a source shows a certificate, key-file() and cert-file() belong together, \
         fingerprints and cipher suites have to be readable, and network() and tcp() need a port().",
    ),
    (
        "D0121",
        "tls() that leaves something out",
        "The configuration works, but not as it looks: without ca-file() and ca-dir() no certificate is trusted, the port of a source \
         with an empty tls() stays closed, cipher suites that are not available are left out, allow-compress(yes) compresses nothing, \
         a source has no OCSP answers to verify and speaks no version before TLS 1.2.",
    ),
    (
        "D0122",
        "transport(rltp) with what does not belong to it",
        "The rltp() block is for transport(rltp) only, and what came by it is in no other encoding().",
    ),
    (
        "D0130",
        "wrong spoof-source()",
        "Only datagrams can be sent in the name of another sender: transport(udp), or udp() and udp6().",
    ),
    (
        "D0140",
        "wrong disk-buffer()",
        "capacity-bytes() has to be given, and flow-control-window-bytes() is for \
         reliable(yes), flow-control-window-size() for reliable(no).",
    ),
    (
        "D0150",
        "logrotate() that rotates nothing",
        "As in syslog-ng, files are rotated only with enable(yes); size() and rotations() alone say nothing.",
    ),
    (
        "D0160",
        "wrong config() of kafka()",
        "Properties have librdkafka's names; the help names the nearest there is, or what to write instead.",
    ),
    (
        "D0161",
        "property without effect",
        "The property of config() is known from librdkafka and changes nothing here; the message says why.",
    ),
    (
        "D0162",
        "wrong kafka()",
        "Brokers and a topic have to be named; a templated topic needs a fallback-topic(); a login needs a user and a password.",
    ),
    (
        "D0170",
        "wrong http()",
        "url() needs `http://` or `https://` and a host, headers() a name and a value, response-action() a status and one of its words; the \
         message says what is wrong. A `%` in the path or query of a url() without two hexadecimal digits behind it is sent as it is, which is a warning.",
    ),
    (
        "D0180",
        "wrong sql()",
        "sql() needs type(), and as many values() as columns(); names of tables and columns have letters, digits and `_`. The message says \
         what is wrong.",
    ),
    ("D0190", "wrong redis()", "command() has to be given; auth() has a password, or a user and a password."),
    (
        "D0300",
        "wrong mongodb()",
        "uri() has to be an address of MongoDB with the name of a database, `mongodb://host:27017/database`; write-concern() is `unacked`, \
         `acked`, `majority` or a number. The message says what is wrong.",
    ),
    (
        "D0301",
        "wrong amqp()",
        "Names of hosts, exchanges and kinds of exchanges have at most 255 bytes; auth-method(external) needs a certificate in tls().",
    ),
    (
        "D0302",
        "wrong mqtt()",
        "topic() has to be given; address() is `tcp://host:port` or `ssl://host:port`; topics that messages are published to have no `#` and `+`.",
    ),
    ("D0303", "wrong stomp()", "Name, password and host cannot have ends of lines in them."),
    (
        "D0200",
        "a Python class that cannot be used",
        "class() names none, or it cannot be imported, or it lacks the method that makes it a destination or a source. The message is \
         Python's traceback. Nothing starts, or what ran runs on.",
    ),
    (
        "D0210",
        "wrong console()",
        "console() is for this machine unless it knows who asks: with another ip() it needs tls(), and token() or client certificates. A \
         token has at least 16 characters.",
    ),
    (
        "D0220",
        "wrong source of HTTP requests",
        "hec() needs tokens() to tell whom it takes messages from, paths() of webhook() are regular expressions, a key and its certificate \
         belong together; the message says what is wrong.",
    ),
    (
        "D0250",
        "wrong options of a destination over gRPC",
        "url() is `host:port`, auth() says insecure() or tls(), headers() are names and values, response-action() a status of gRPC and one of its \
         words; the message says what is wrong.",
    ),
    (
        "D0251",
        "wrong options of a source over gRPC",
        "auth() says insecure() or tls(), channel-args() are names of grpc's that have a meaning here; project() and subscription() say what \
         google-pubsub() reads. The message says what is wrong.",
    ),
    (
        "D0304",
        "wrong smtp()",
        "from() and to() have to be given, each an address of mail, with a name in front of it or without; a header has a name and a value. The \
         message says what is wrong.",
    ),
    (
        "D0305",
        "wrong riemann()",
        "event-time() is a template and `seconds` or `microseconds`; tls() belongs to type(\"tls\").",
    ),
    (
        "D0306",
        "wrong snmp()",
        "trap-obj() and snmp-obj() have to be given, each a name in numbers, a type and a value; version(v3) needs a user and an engine. The \
         message says what is wrong.",
    ),
    (
        "D0261",
        "wrong s3()",
        "s3() needs bucket() and object-key(), and an account: both access-key() and secret-key(), or none of them and a profile() that there \
         is. url() is `https://host:port`; the message says what is wrong.",
    ),
    (
        "D0262",
        "wrong hdfs()",
        "hdfs() needs hdfs-uri() (`hdfs://host:port`) and hdfs-file(), files of hdfs-resources() that can be read, and kerberos-principal() together with \
         kerberos-keytab-file(); the message says what is wrong.",
    ),
    (
        "D0260",
        "wrong logstore()",
        "The certificate cannot be used, or options do not go together; the message says which.",
    ),
];
