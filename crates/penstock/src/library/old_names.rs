//! Old names of destinations, of classes in Java and of syslog-ng PE, each with the call that is written in
//! its place and a warning. What was about Java is left out; what else the new one does not know is its
//! error.

use conf_syntax::{OldName, Written};

type Arguments = [(String, String)];

pub const OLD_NAMES: &[OldName] = &[
    OldName { context: "destination", name: "elasticsearch", write: elasticsearch },
    OldName { context: "destination", name: "elasticsearch2", write: elasticsearch },
    OldName { context: "destination", name: "kafka-java", write: kafka },
    OldName { context: "destination", name: "splunk-hec", write: splunk },
    OldName { context: "destination", name: "java", write: java },
];

/// About Java, or about what its client does before the first message.
const OF_JAVA: &[&str] = &[
    "class_path",
    "class_name",
    "client_lib_dir",
    "cluster",
    "client_mode",
    "http_auth_type",
    "jvm_options",
    "resource",
    "skip_cluster_health_check",
];

const PORT: &str = "9200";

fn given<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    let found = arguments.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.trim());
    found.filter(|value| !plain(value).is_empty())
}

/// A value without its quotes.
fn plain(value: &str) -> &str {
    let value = value.trim();
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Texts with or without quotes, with spaces or commas between them.
fn words(value: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'');
    value.split(ends).filter(|word| !word.is_empty())
}

/// The call: `own`, then the arguments under their new names, but for those that are done with.
fn call(driver: &str, own: &str, arguments: &Arguments, renamed: &[(&str, &str)], done: &[&str]) -> String {
    let mut text = format!("{driver}({own}");
    for (name, value) in arguments {
        // What is empty was not given: blocks of syslog-ng's library pass on all that they know.
        let is_given = !plain(value).is_empty();
        if !is_given || OF_JAVA.contains(&name.as_str()) || done.contains(&name.as_str()) {
            continue;
        }
        let name = renamed.iter().find(|(old, _)| old == name).map_or(name.as_str(), |(_, new)| new);
        // Java's options are texts, numbers too.
        let is_number = plain(value).bytes().all(|b| b.is_ascii_digit());
        let value = if is_number { plain(value) } else { value };
        text.push_str(&format!(" {}({value})", name.replace('_', "-")));
    }
    text + ");"
}

fn elasticsearch(arguments: &Arguments) -> Result<Written, String> {
    let mode = plain(given(arguments, "client_mode").unwrap_or("http"));
    let scheme = if matches!(mode, "https" | "searchguard") { "https" } else { "http" };
    // Those of other modes speak a protocol between Elasticsearch's own servers, on a port of their own.
    let speaks_http = matches!(mode, "http" | "https");
    let port = given(arguments, "port").map(plain).filter(|_| speaks_http).unwrap_or(PORT);
    let urls: Vec<String> = match given(arguments, "cluster_url") {
        Some(urls) => words(urls).map(|url| format!("\"{}/_bulk\"", url.trim_end_matches('/'))).collect(),
        None => words(given(arguments, "server").unwrap_or("localhost"))
            .map(|server| format!("\"{scheme}://{server}:{port}/_bulk\""))
            .collect(),
    };
    let renamed = [
        ("flush_limit", "batch-lines"),
        ("concurrent_requests", "workers"),
        ("message_template", "template"),
        ("http_auth_type_basic_username", "user"),
        ("http_auth_type_basic_password", "password"),
    ];
    let mut own = format!("url({})", urls.join(" "));
    if given(arguments, "java_ssl_insecure").map(plain) == Some("true") {
        own.push_str(" peer-verify(no)");
    }
    let text = call(
        "elasticsearch-http",
        &own,
        arguments,
        &renamed,
        &["cluster_url", "server", "port", "java_ssl_insecure"],
    );
    let mut instead = "elasticsearch-http() over HTTP stands for it".to_owned();
    if given(arguments, "type").is_some() {
        instead.push_str("; leave out type() for Elasticsearch 8 and later, which knows none");
    }
    Ok(Written { text, instead })
}

fn kafka(arguments: &Arguments) -> Result<Written, String> {
    let options = arguments.iter().filter(|(name, _)| name == "option").flat_map(|(_, value)| pairs(value));
    let config: Vec<String> = options.map(|(name, value)| format!("\"{name}\" => {value}")).collect();
    let mut own = if config.is_empty() { String::new() } else { format!("config({})", config.join(" ")) };
    if let Some(word) = given(arguments, "sync_send").map(plain) {
        // Java says true and false.
        let word = if word.eq_ignore_ascii_case("true") { "yes" } else { word };
        let word = if word.eq_ignore_ascii_case("false") { "no" } else { word };
        own.push_str(&format!(" sync-send({word})"));
    }
    // By the name that no block of an older library has.
    let text = call("kafka-c", &own, arguments, &[("template", "message")], &["option", "sync_send"]);
    Ok(Written { text, instead: "kafka() stands for it".to_owned() })
}

fn splunk(arguments: &Arguments) -> Result<Written, String> {
    let server = |url: &str| url.split("/services/collector").next().unwrap_or(url).to_owned();
    let url = given(arguments, "url").map(|url| format!("url(\"{}\")", server(plain(url))));
    let text =
        call("splunk-hec-event", &url.unwrap_or_default(), arguments, &[("template", "event")], &["url"]);
    Ok(Written { text, instead: "splunk-hec-event() stands for it".to_owned() })
}

fn hdfs(arguments: &Arguments) -> Result<Written, String> {
    Ok(Written { text: call("hdfs", "", arguments, &[], &[]), instead: "hdfs() stands for it".to_owned() })
}

fn http(arguments: &Arguments) -> Result<Written, String> {
    let text = call("http", "", arguments, &[("template", "body")], &[]);
    Ok(Written { text, instead: "http() stands for it".to_owned() })
}

/// `java(class-name("...") option("name", "value") options("name" => "value"))`.
fn java(arguments: &Arguments) -> Result<Written, String> {
    let class = plain(given(arguments, "class_name").unwrap_or_default());
    let write = match class.rsplit('.').next().unwrap_or_default() {
        "ElasticSearchDestination" => elasticsearch,
        "KafkaDestination" => kafka,
        "HdfsDestination" => hdfs,
        "HTTPDestination" => http,
        _ => {
            return Err(format!(
                "there is no Java here, and `{class}` is no class of syslog-ng; write it in Python: python(class(\"module.Class\")) with a \
                 LogDestination that has the same methods (docs/python.md)"
            ));
        }
    };
    let mut all = Vec::new();
    for (name, value) in arguments {
        match name.as_str() {
            "option" | "options" => all.extend(pairs(value)),
            _ => all.push((name.clone(), value.clone())),
        }
    }
    write(&all)
}

/// `"name", "value"`, `"name" => "value"` and `name("value")`, one behind the other.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pieces = pieces(text);
    let name = |piece: &str| plain(piece).replace('-', "_");
    pieces.chunks(2).filter_map(|pair| Some((name(pair.first()?), pair.get(1)?.clone()))).collect()
}

/// Texts with their quotes, and words.
fn pieces(text: &str) -> Vec<String> {
    let between = |c: char| c.is_whitespace() || matches!(c, ',' | '=' | '>' | '(' | ')');
    let (mut found, mut rest) = (Vec::new(), text.trim_start_matches(between));
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' | '\'' => closing(rest, first),
            _ => rest.find(between).unwrap_or(rest.len()),
        };
        let (piece, behind) = rest.split_at(end);
        found.push(piece.to_owned());
        rest = behind.trim_start_matches(between);
    }
    found
}

/// Behind the quote that ends a text which begins with one.
fn closing(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if quote == '"' => is_escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, arguments: &[(&str, &str)]) -> Result<String, String> {
        let arguments: Vec<_> = arguments.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let old = OLD_NAMES.iter().find(|old| old.name == name).expect("an old name");
        (old.write)(&arguments).map(|written| written.text)
    }

    #[test]
    fn calls_are_written_in_new_words() {
        let of_java = [
            ("class_path", "\"/usr/lib/*.jar\""),
            ("class_name", "\"org.syslog_ng.elasticsearch_v2.ElasticSearchDestination\""),
            ("template", "\"$(format-json --scope rfc5424)\""),
            ("option", "\"index\", \"logs-${YEAR}\""),
            ("option", "\"flush_limit\" \"100\""),
            ("options", "\"client_mode\" => \"https\" server(\"a b\")"),
        ];
        let elastic = [
            ("client_mode", "\"transport\""),
            ("cluster", "\"es\""),
            ("port", "9300"),
            ("index", "\"i\""),
            ("type", "\"t\""),
            ("cluster_url", "\"\""),
            ("java_ssl_insecure", "\"false\""),
        ];
        let hdfs = [
            ("class_name", "\"org.syslog_ng.hdfs.HdfsDestination\""),
            ("option", "(\"hdfs_uri\", \"hdfs://h:8020\")"),
            ("option", "\"hdfs_file\", \"/a \\\"b\\\" c\""),
        ];
        for (name, arguments, expected) in [
            (
                "java",
                &of_java[..],
                "elasticsearch-http(url(\"https://a:9200/_bulk\" \"https://b:9200/_bulk\") \
                 template(\"$(format-json --scope rfc5424)\") index(\"logs-${YEAR}\") batch-lines(100));",
            ),
            ("java", &hdfs, "hdfs( hdfs-uri(\"hdfs://h:8020\") hdfs-file(\"/a \\\"b\\\" c\"));"),
            (
                "elasticsearch2",
                &elastic,
                "elasticsearch-http(url(\"http://localhost:9200/_bulk\") index(\"i\") type(\"t\"));",
            ),
            (
                "kafka-java",
                &[("kafka_bootstrap_servers", "\"k:9092\""), ("topic", "\"t\""), ("client_lib_dir", "x")],
                "kafka-c( kafka-bootstrap-servers(\"k:9092\") topic(\"t\"));",
            ),
            (
                "kafka-java",
                &[("topic", "\"t\""), ("sync_send", "\"true\"")],
                "kafka-c( sync-send(yes) topic(\"t\"));",
            ),
            (
                "splunk-hec",
                &[
                    ("url", "\"https://s:8088/services/collector/event\""),
                    ("token", "\"x\""),
                    ("template", "\"$MSG\""),
                ],
                "splunk-hec-event(url(\"https://s:8088\") token(\"x\") event(\"$MSG\"));",
            ),
        ] {
            assert_eq!(written(name, arguments).as_deref(), Ok(expected));
        }
        assert!(
            written("java", &[("class_name", "\"com.example.Mine\"")])
                .unwrap_err()
                .contains("com.example.Mine")
        );
    }
}
