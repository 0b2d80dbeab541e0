//! Messages against the bytes of the encoding guide.

use crate::tests::shown;

const SCHEMA: &str = "syntax = \"proto3\"; package p;\n\
    message Test { int32 a = 1; string b = 2; Test c = 3; repeated int32 f = 6; repeated string s = 7; map<string, sint32> g = 8;\n\
    enum Level { LOW = 0; HIGH = 5; } Level level = 9; bool ok = 10; double d = 11; fixed32 x = 12; bytes raw = 13; float small = 14; }";

/// The message of a dict as hexadecimal digits.
fn check(dict: &str, expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.proto");
    std::fs::write(&path, SCHEMA).expect("room");
    let text = format!("hex_encode(bytes(protobuf_message({dict}, schema_file=\"{}\")))", path.display());
    let shown = shown(&text);
    let digits = shown.strip_prefix('"').and_then(|shown| shown.strip_suffix('"'));
    assert_eq!(digits.unwrap_or(&shown), expected, "{dict}");
}

#[test]
fn as_in_the_encoding_guide() {
    check("{\"a\": 150}", "089601");
    check("{\"b\": \"testing\"}", "120774657374696e67");
    check("{\"c\": {\"a\": 150}}", "1a03089601");
    check("{\"f\": [3, 270, 86942]}", "3206038e029ea705");
    check("{\"s\": (\"a\", \"b\"), \"a\": null}", "3a01613a0162");
    check("{\"g\": {\"k\": -1}}", "42050a016b1001");
    check("{\"a\": -2}", "08feffffffffffffffff01");
}

#[test]
fn conversions() {
    check("{\"a\": 99999999999}", "08ffffffff07");
    check("{\"level\": \"HIGH\", \"ok\": \"x\"}", "48055001");
    check("{\"level\": 5, \"ok\": \"\"}", "48055000");
    check("{\"d\": 1, \"x\": 7}", "59000000000000f03f6507000000");
    check("{\"b\": [1], \"raw\": bytes(\"z\")}", "12035b315d6a017a");
    check("{\"small\": 1.5, \"a\": \"12\"}", "750000c03f080c");
}

#[test]
fn what_is_wrong() {
    check("{\"nope\": 1}", "error: There is no such field in the message: \"nope\"");
    check("{\"a\": \"x\"}", "error: A field of numbers takes a number, got: string");
    check("{\"f\": 1}", "error: A repeated field takes a list, got: integer");
    check("{\"level\": \"MIDDLE\"}", "error: There is no such value of the enumeration: \"MIDDLE\"");
    check("{\"c\": 1}", "error: A message of protocol buffers is made of a dict, got: integer");
    check("{\"raw\": 1}", "error: A field of bytes takes bytes or a string, got: integer");
    let text = shown("protobuf_message({\"a\": 1})");
    assert!(text.contains("needs a schema"), "{text}");
    let text = shown("protobuf_message({}, schema_file=\"/nonexistent.proto\")");
    assert!(text.contains("Y0113"), "{text}");
}
