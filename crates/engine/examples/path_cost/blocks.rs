//! FilterX blocks that are measured: each stands beside `plain`, which is the same without a block.

use std::fmt::Write;

/// A row's name, its block, and what is printed behind the message.
pub struct Block {
    pub name: &'static str,
    pub text: String,
    pub printed: &'static str,
}

/// Every block. Where a name says `json`, messages are JSON.
pub fn all() -> Vec<Block> {
    let block = |name: &'static str, text: &str, printed: &'static str| Block {
        name,
        text: text.to_owned(),
        printed,
    };
    let keys: Vec<String> =
        (0..15).map(|n| format!("key{n:02}: {}", ["$HOST", "\"fixed\"", "7"][n % 3])).collect();
    let keys =
        keys.iter().map(|pair| format!("\"{}", pair.replacen(':', "\":", 1))).collect::<Vec<_>>().join(", ");
    vec![
        block("filterx-empty", "", ""),
        block(
            "filterx-regexp",
            r"found = regexp_search($MSG, /conn=([0-9]+) seq=([0-9]+) user=([a-z0-9]+) /);
              $a = found['1']; $b = found['2']; $c = found['3'];",
            " ${a} ${b} ${c}",
        ),
        block(
            "filterx-kv",
            "pairs = parse_kv($MSG); $a = pairs.user; $b = pairs.act; $c = pairs.code;",
            " ${a} ${b} ${c}",
        ),
        block(
            "filterx-json",
            "event = json($MSG); $a = event.user; $b = event.act; $c = event.nest.zone; event.code = \"x\";
             $MSG = format_json(event);",
            " ${a} ${b} ${c}",
        ),
        Block { name: "filterx-chain", text: chain(), printed: " ${class}" },
        Block { name: "filterx-switch", text: switch(), printed: " ${class}" },
        Block {
            name: "filterx-dict",
            text: format!("event = {{{keys}}}; $MSG = format_json(event);"),
            printed: "",
        },
        block(
            "filterx-if",
            "if ($HOST == \"host003\") { $class = \"a\"; } elif ($LEVEL_NUM > 5) { $class = \"b\"; };",
            " ${class}",
        ),
        block("filterx-xml", "event = parse_xml($MSG) ?? {}; $class = event.e ?? \"none\";", " ${class}"),
        block(
            "filterx-mixed",
            "size = len($HOST); if (size eq \"3\" or size eq \"7\") { $class = \"a\"; };",
            " ${class}",
        ),
        block("filterx-metric", "update_metric(\"seen\", labels={\"host\": $HOST});", ""),
    ]
}

/// Twenty comparisons, of which messages fulfil one of the first sixteen.
fn chain() -> String {
    let mut text = String::new();
    for n in 0..20 {
        let word = if n == 0 { "if" } else { " elif" };
        let _ = write!(text, "{word} ($HOST == \"host{n:03}\") {{ $class = \"c{n}\"; }}");
    }
    text.push_str(" else { $class = \"none\"; };");
    text
}

fn switch() -> String {
    let cases = (0..20).map(|n| format!("case \"host{n:03}\": $class = \"c{n}\"; break; "));
    format!("switch ($HOST) {{ {} default: $class = \"none\"; break; }};", cases.collect::<String>())
}
