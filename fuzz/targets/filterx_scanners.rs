//! Fuzzes what reads formats in FilterX. The first byte says which two blocks make the same of a message: of
//! the keys that are read and of all, of a text and of what was made of it.
#![no_main]

#[path = "filterx/world.rs"]
mod world;

use filterx::Block;
use std::sync::LazyLock;

const PAIRS: &[[&str; 2]] = &[
    [
        "$D = format_json(parse_json($MSG));",
        "x = format_json(parse_json($MSG)); $D = format_json(parse_json(x + \" \"));",
    ],
    [
        "x = json($MSG); $D = format_json([x.a ?? null, x.b ?? null]);",
        "x = json($MSG); y = x; $D = format_json([x.a ?? null, x.b ?? null]);",
    ],
    [
        "x = parse_kv($MSG); $D = format_json([x.a ?? null, x.b ?? null]);",
        "x = parse_kv($MSG); y = x; $D = format_json([x.a ?? null, x.b ?? null]);",
    ],
    [
        "x = parse_kv($MSG, value_separator=\":\", pair_separator=\";\"); $D = format_json([x.a ?? null]);",
        "x = parse_kv($MSG, value_separator=\":\", pair_separator=\";\", stray_words_key=\"s\"); $D = format_json([x.a ?? null]);",
    ],
    ["x = parse_csv($MSG); $D = format_json(x);", "x = parse_csv($MSG, greedy=true); $D = format_json(x);"],
    [
        "x = parse_csv($MSG, dialect=\"escape-double-char\", columns=[\"a\",\"b\"], greedy=true); $D = format_json(x);",
        "x = parse_csv($MSG, dialect=\"escape-double-char\", columns=(\"a\",\"b\"), greedy=true); $D = format_json(x);",
    ],
    [
        "x = parse_csv($MSG, dialect=\"escape-backslash-with-sequences\", strip_whitespace=true); $D = format_csv(x);",
        "x = parse_csv($MSG, dialect=\"escape-backslash-with-sequences\", strip_whitespaces=true); $D = format_csv(x);",
    ],
    [
        "x = format_xml(parse_xml($MSG)); $D = format_json(parse_xml(x));",
        "x = format_xml(parse_xml($MSG)); y = format_xml(parse_xml(x)); $D = format_json(parse_xml(y));",
    ],
    [
        "x = parse_windows_eventlog_xml($MSG); $D = format_json(x);",
        "x = parse_windows_eventlog_xml($MSG); y = format_windows_eventlog_xml(x) ?? \"\"; $D = format_json(x);",
    ],
    [
        "$D = format_json(parse_cef($MSG));",
        "x = parse_cef($MSG); y = format_cef(x) ?? \"\"; $D = format_json(x);",
    ],
    [
        "$D = format_json(parse_leef($MSG));",
        "x = parse_leef($MSG); y = format_leef(x) ?? \"\"; $D = format_json(x);",
    ],
];

static BLOCKS: LazyLock<Vec<[Block; 2]>> =
    LazyLock::new(|| PAIRS.iter().map(|pair| pair.map(|text| world::compiled(text).expect(text))).collect());

driver::fuzz_target!(|input: &[u8]| {
    let Some((first, message)) = input.split_first() else { return };
    // JSON is read without zero bytes, so that what is written of one is not what is read.
    if message.contains(&0) {
        return;
    }
    let Some([one, other]) = BLOCKS.get(usize::from(*first) % PAIRS.len()) else { return };
    assert_eq!(
        world::run(one, message),
        world::run(other, message),
        "{:?}",
        PAIRS[usize::from(*first) % PAIRS.len()]
    );
});
