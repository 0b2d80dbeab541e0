//! Fuzzes programs of FilterX over any message: blocks as people write them, each compiled once. The first
//! byte says which one; zero bytes part the messages.
#![no_main]

#[path = "filterx/world.rs"]
mod world;

use filterx::Block;
use std::sync::LazyLock;

const PROGRAMS: &[&str] = &[
    "d = json($MSG); d.user ?? \"x\"; d.list[] = 1; unset(d.a); $D = format_json(d); $N = len(d) + 1;",
    "x = json($MSG) ?? {}; if (isset(x.a)) { $A = x.a; } elif (x.b ?? 0 > 5) { drop; } else { x.c = {}; dpath(x.q.r) = x; }; $D = x;",
    "kv = parse_kv($MSG); kv.a =?? int(kv.n); $A = kv; unset_empties(kv); $D = format_kv(kv, value_separator=\"=\", pair_separator=\", \");",
    "l = parse_csv($MSG, delimiter=\",\"); l += [1, 2.5]; $D = format_csv(l) ?? repr(l); $F = l[0] ?? l[-1]; $S = string(l);",
    "m = regexp_search($MSG, /(?<k>[a-z]+)=(?<v>[^ ]*)/); $D = regexp_subst($MSG, /[0-9]+/, \"<\\\\0>\", global=true); $K = m.k ?? \"none\";",
    "t = strptime($MSG, \"%Y-%m-%dT%H:%M:%S%z\", \"%b %d %H:%M:%S\", \"%s\") ?? isodate($MSG) ?? datetime(0); $D = strftime(\"%a %j %U %s\", t + 1.5) + format_isodate(get_timestamp(stamp=\"stamp\"));",
    "s = $MSG; $D = upper(s[1..-1]) + lower(s[..3]) + s[2..]; n = len(s); $N = n * 7 % 5 - n / (n + 1);",
    "$D = base64_encode($MSG) + urlencode($MSG) + hex_encode($MSG); x = base64_decode($MSG) ?? bytes(\"\"); y = urldecode($MSG) ?? \"\"; $Y = y; z = hex_decode($MSG) ?? bytes(\"\"); $Z = repr(z);",
    "x = parse_xml($MSG); flatten(x); $D = format_json(x); for_each = keys(x); $K = for_each;",
    "$D = sha256($MSG) + md5($MSG) + sha1(bytes($MSG)); startswith($MSG, [\"a\", \"b\"]) or endswith($MSG, \"z\") or includes($MSG, \"m\", ignorecase=true); $B = strcasecmp($MSG, \"ab\");",
    "switch ($MSG) { case \"a\": $D = 1; break; case 3: $D = 2; break; case \"b\": $D = 3; default: done; }; $MSG =~ /x+/;",
    "switch (int($MSG)) { case 0..10: $D = \"low\"; break; case 10..100: $D = \"mid\"; break; default: $D = \"high\"; break; };",
    "i = int($MSG) ?? 0; d = double($MSG) ?? 0.5; $D = string(i + d) + string(i * 3) + string(bool($MSG)); i > d or i <= d; i in [1, 2, i];",
    "x = parse_cef($MSG) ?? parse_leef($MSG) ?? {}; x += {\"k\": $MSG}; y = dict_to_pairs(x, \"key\", \"value\"); $D = format_json(y);",
    "x = json_array($MSG) ?? [1]; x[0] = {\"a\": x}; $D = format_json(x); unset(x[0]); move(x) ?? 1; $E = x ?? \"gone\";",
    "d = {\"a\": 1, \"b\": {\"c\": [1, 2]}}; e = d; e.b.c[] = $MSG; d.b.x = e; $D = format_json([d, e]); set_fields(d, overrides={\"a\": $MSG}, defaults={\"z\": [\"q\"]});",
    "x = parse_windows_eventlog_xml($MSG) ?? {}; $D = format_windows_eventlog_xml(x) ?? format_json(x);",
    "ip = $MSG in subnet(\"10.0.0.0/8\") ?? false; $D = ip ? \"in\" : \"out\"; $P = protobuf($MSG) ?? \"\"; o = otel_kvlist(protobuf($MSG)) ?? {}; $O = o;",
    "failure_info_enable(collect_falsy=true); json($MSG).a.b == \"c\"; $D = 1;",
    "declare seen = {}; seen[$MSG] = len($MSG); $D = seen; x = seen[$MSG] ?? -1; x > 3;",
    "x = parse_kv($MSG, stray_words_key=\"rest\"); $D = format_syslog_5424($MSG, add_octet_count=true) ?? \"\"; $X = x.rest ?? x;",
];

static BLOCKS: LazyLock<Vec<Block>> =
    LazyLock::new(|| PROGRAMS.iter().map(|text| world::compiled(text).expect(text)).collect());

driver::fuzz_target!(|input: &[u8]| {
    let Some((first, messages)) = input.split_first() else { return };
    if let Some(block) = BLOCKS.get(usize::from(*first) % PROGRAMS.len()) {
        messages.split(|byte| *byte == 0).for_each(|message| _ = world::run(block, message));
    }
});
