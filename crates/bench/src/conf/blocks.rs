//! FilterX blocks of the cases about them.

use crate::cases::Block;

/// Comparisons of the chain and cases of the switch; messages are from 17 programs.
const COMPARED: usize = 20;

/// The steps of the log path, and what is printed behind the message.
pub fn steps(block: Block) -> (String, &'static str) {
    let (text, printed) = match block {
        Block::None => return (String::new(), ""),
        Block::OldIf => {
            let (host, number) = ("host(\"host003\" type(string))", "\"$LEVEL_NUM\" > 5");
            let set = |text: &str| format!("rewrite {{ set(\"{text}\" value(\"class\")); }};");
            let steps = format!(" if ({host}) {{ {} }} elif ({number}) {{ {} }};", set("a"), set("b"));
            return (steps, "${class}");
        }
        Block::Empty => (String::new(), ""),
        Block::Regexp => (
            "found = regexp_search($MSG, /conn=([0-9]+) seq=([0-9]+) ([^ ]+) /); $a = found[\"1\"]; $b = found[\"2\"]; \
             $c = found[\"3\"];"
                .to_owned(),
            "${a} ${b} ${c}",
        ),
        Block::Kv => (
            "pairs = parse_kv($MSG); $a = pairs.user; $b = pairs.act; $c = pairs.code;".to_owned(),
            "${a} ${b} ${c}",
        ),
        Block::Json => (
            "event = json($MSG); $a = event.user; $b = event.act; $c = event.nest.b; event.code = 0; \
             $MSG = format_json(event);"
                .to_owned(),
            "${a} ${b} ${c}",
        ),
        Block::Chain => (chain(), "${class}"),
        Block::Switch => (switch(), "${class}"),
        Block::Dict => (dict(), "${event}"),
        Block::If => (
            "if ($HOST == \"host003\") { $class = \"a\"; } elif (int($LEVEL_NUM) > 5) { $class = \"b\"; };".to_owned(),
            "${class}",
        ),
    };
    (format!(" filterx {{ {text} }};"), printed)
}

fn chain() -> String {
    let branches = (0..COMPARED).map(|n| format!("if ($PROGRAM == \"app{n}\") {{ $class = \"c{n}\"; }}"));
    format!("{} else {{ $class = \"none\"; }};", branches.collect::<Vec<_>>().join(" el"))
}

fn switch() -> String {
    let cases = (0..COMPARED).map(|n| format!("case \"app{n}\": $class = \"c{n}\"; break; "));
    format!("switch ($PROGRAM) {{ {}default: $class = \"none\"; break; }};", cases.collect::<String>())
}

fn dict() -> String {
    let values = ["$HOST", "$PROGRAM", "\"fixed\"", "7", "true"];
    let pairs = (0..15).map(|n| format!("\"key{n:02}\": {}", values[n % values.len()]));
    format!("event = {{{}}}; $event = format_json(event);", pairs.collect::<Vec<_>>().join(", "))
}
