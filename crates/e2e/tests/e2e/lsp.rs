//! `penstock lsp` with a client library of others: findings, completion, help, definitions, renaming.

use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testkit::{Lab, binary, root, skip};

const MISSING: &str = "no client library of the language server protocol, see `./x servers lsp`";

const CONFIG: &str = "@version: 4.11\n\
    source s_net { network(port(5514) transport(tcp)); };\n\
    filter f_app { program(\"app\") and match(\"a\\d\" value(\"MESSAGE\")); };\n\
    destination d_all { file(\"/tmp/ä-$HOST\" template(t_line)); };\n\
    template t_line { template(\"$MSG\\n\"); };\n\
    log { source(s_net); filter(f_app); if (filter(f_app)) { destination(d_all); }; };\n\
    log { source(s_net); filter { filter(f_app); }; destination(d_all); };\n";

fn python() -> Option<PathBuf> {
    let folder = root().join("target/servers/lsp");
    folder.join("complete").is_file().then(|| folder.join("python/bin/python"))
}

/// The findings of the text, and the answers to the questions.
fn asked(text: &str, questions: &Value) -> Option<Vec<Value>> {
    let python = python()?;
    let lab = Lab::new();
    let path = lab.path("relay ä.conf");
    std::fs::write(&path, text).unwrap();
    let outcome = Command::new(python)
        .arg(root().join("scripts/lsp/client.py"))
        .arg(binary())
        .arg(&path)
        .arg(questions.to_string())
        .output()
        .expect("the client");
    let text = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status.success(), "{text}\n{}", String::from_utf8_lossy(&outcome.stderr));
    Some(serde_json::from_str(text.trim()).expect("answers"))
}

fn at(line: u32, character: u32) -> Value {
    json!({ "position": { "line": line, "character": character } })
}

fn labels(answer: &Value) -> Vec<&str> {
    answer.as_array().expect("a list").iter().map(|item| item["label"].as_str().expect("a label")).collect()
}

/// What the server writes and says for these bytes, and its exit code.
fn raw(input: &[u8]) -> (String, String, Option<i32>) {
    let mut server = Command::new(binary())
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server");
    server.stdin.take().expect("its input").write_all(input).expect("it reads");
    let done = server.wait_with_output().expect("its end");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&done.stdout), text(&done.stderr), done.status.code())
}

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn what_no_editor_sends_ends_nothing_and_takes_no_memory() {
    let hello = frame(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#);
    let bye = frame(r#"{"jsonrpc":"2.0","id":9,"method":"shutdown"}"#)
        + &frame(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    // What is announced is not believed.
    let (_, said, code) = raw(format!("{hello}Content-Length: 99999999999999\r\n\r\n{{}}").as_bytes());
    assert!(code == Some(1) && said.contains("a message of 99999999999999 bytes"), "{code:?} {said}");
    // A whole frame without a message in it is answered, and the next one too.
    for (wrong, error) in [("hello", -32700), ("[]", -32600), (&*"[".repeat(100_000), -32700)] {
        let (answers, said, code) = raw(format!("{hello}{}{bye}", frame(wrong)).as_bytes());
        assert_eq!((code, said.as_str()), (Some(0), ""), "{answers}");
        assert!(answers.contains(&format!("\"code\":{error}")) && answers.contains("\"id\":9"), "{answers}");
    }
    let (answers, _, code) = raw(format!("{}{hello}{bye}", frame(r#"{"id":7,"method":"x"}"#)).as_bytes());
    assert!(code == Some(0) && answers.contains("-32002"), "{answers}");
    let (_, said, code) = raw(b"");
    assert!(code == Some(1) && said.contains("no `initialize`"), "{said}");
}

#[test]
fn findings_come_with_what_cures_them() {
    let questions = json!([
        ["textDocument/codeAction", { "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 99 } },
            "context": { "diagnostics": [] } }],
        ["change", CONFIG.replace("port(5514)", "prot(5514)").replace("\\d", "\\\\d")],
        ["change", CONFIG.replace("\\d", "\\\\d")],
    ]);
    let Some(answers) = asked(CONFIG, &questions) else { return skip(MISSING) };
    let [first, actions, wrong, right] = answers.as_slice() else { panic!("{answers:?}") };
    assert_eq!(first.as_array().map(Vec::len), Some(1), "{first:#}");
    assert_eq!((&first[0]["code"], &first[0]["range"]["start"]["line"]), (&"L0101".into(), &2.into()));
    let edit = actions[0]["edit"]["changes"].as_object().expect("changes").values().next().expect("a file");
    assert_eq!(edit[0]["newText"], "\"a\\\\d\"", "{actions:#}");
    assert_eq!((&wrong[0]["code"], &wrong[0]["severity"]), (&"O0101".into(), &1.into()), "{wrong:#}");
    assert_eq!(wrong[0]["range"]["start"], json!({ "line": 1, "character": 23 }));
    assert_eq!(right, &json!([]));
}

#[test]
fn what_may_stand_at_a_place_is_known() {
    let text = "@version: 4.11\n\n\
        source s_one { network(transport(udp) ); };\n\
        destination d_one { file(\"/tmp/$\"); };\n\
        rewrite r { };\n\
        log { source(); destination(d_one); flags(); };\n";
    let questions = json!([
        ["textDocument/completion", at(1, 0)],
        ["textDocument/completion", at(2, 14)],
        ["textDocument/completion", at(2, 38)],
        ["textDocument/completion", at(2, 33)],
        ["textDocument/completion", at(3, 32)],
        ["textDocument/completion", at(4, 12)],
        ["textDocument/completion", at(5, 13)],
        ["textDocument/completion", at(5, 42)],
        ["textDocument/hover", at(2, 26)],
        ["textDocument/hover", at(2, 18)],
        ["textDocument/hover", at(5, 30)],
    ]);
    let Some(answers) = asked(text, &questions) else { return skip(MISSING) };
    for (answer, wanted) in answers[1..].iter().zip([
        "destination",
        "unix-stream",
        "max-connections",
        "tls",
        "PROGRAM",
        "subst",
        "s_one",
        "flow-control",
    ]) {
        assert!(labels(answer).contains(&wanted), "{wanted}: {:?}", labels(answer));
    }
    assert!(!labels(&answers[3]).contains(&"template"), "only options of sources");
    let help = |answer: &Value| answer["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(help(&answers[9]).starts_with("`transport()` of network"), "{}", help(&answers[9]));
    assert!(help(&answers[10]).contains("**network** (source)"), "{}", help(&answers[10]));
    assert!(help(&answers[11]).contains("destination d_one {"), "{}", help(&answers[11]));
}

#[test]
fn blocks_of_filterx_have_their_functions() {
    let text = "@version: 4.11\n\
        source s { internal(); };\n\
        log { source(s); filterx {\n\
          kv = parse_kv($MSG, );\n\
          if ($HOST == \"a\") { $X = len(kv); };\n\
        }; };\n";
    let questions = json!([
        ["textDocument/completion", at(3, 0)],
        ["textDocument/completion", at(3, 20)],
        ["textDocument/completion", at(4, 7)],
        ["textDocument/hover", at(3, 7)],
        ["textDocument/hover", at(4, 6)],
        ["textDocument/hover", at(4, 28)],
    ]);
    let Some(answers) = asked(text, &questions) else { return skip(MISSING) };
    let [_, start, arguments, dollar, kv, host, len] = answers.as_slice() else { panic!("{answers:?}") };
    assert!(["parse_json", "switch"].iter().all(|word| labels(start).contains(word)), "{:?}", labels(start));
    assert!(!labels(start).contains(&"destination"), "{:?}", labels(start));
    assert!(labels(arguments).contains(&"pair_separator="), "{:?}", labels(arguments));
    assert!(labels(dollar).contains(&"PROGRAM") && !labels(dollar).contains(&"len"), "{:?}", labels(dollar));
    let help = |answer: &Value| answer["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(help(kv).starts_with("`parse_kv(text[, value_separator=]"), "{}", help(kv));
    assert!(help(host).starts_with("`${HOST}`"), "{}", help(host));
    assert!(help(len).contains("Returns integer."), "{}", help(len));
}

#[test]
fn names_are_followed_and_changed() {
    let questions = json!([
        ["textDocument/definition", at(5, 29)],
        ["textDocument/references", { "position": { "line": 2, "character": 8 }, "context": { "includeDeclaration": true } }],
        ["textDocument/rename", { "position": { "line": 5, "character": 48 }, "newName": "f_new" }],
        ["textDocument/rename", { "position": { "line": 3, "character": 50 }, "newName": "t_new" }],
        ["textDocument/rename", { "position": { "line": 2, "character": 8 }, "newName": "a b" }],
        ["textDocument/prepareRename", at(0, 3)],
        ["textDocument/documentSymbol", {}],
    ]);
    let Some(answers) = asked(CONFIG, &questions) else { return skip(MISSING) };
    assert_eq!(answers[1]["range"]["start"], json!({ "line": 2, "character": 7 }), "{:#}", answers[1]);
    assert!(answers[1]["uri"].as_str().unwrap().ends_with("relay%20%C3%A4.conf"));
    assert_eq!(answers[2].as_array().map(Vec::len), Some(4), "{:#}", answers[2]);
    let edits = |answer: &Value| -> Vec<Value> {
        let changes = answer["changes"].as_object().expect("changes");
        changes.values().next().and_then(Value::as_array).expect("edits").clone()
    };
    assert_eq!(edits(&answers[3]).len(), 4, "{:#}", answers[3]);
    assert!(edits(&answers[3]).iter().all(|edit| edit["newText"] == "f_new"));
    assert_eq!(edits(&answers[4]).len(), 2, "{:#}", answers[4]);
    assert!(answers[5]["error"].as_str().is_some_and(|text| text.contains("is no name")), "{:#}", answers[5]);
    assert_eq!(answers[6], Value::Null);
    let symbols: Vec<&str> =
        answers[7].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(symbols, ["s_net", "f_app", "d_all", "t_line"]);
}
