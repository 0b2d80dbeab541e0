//! FilterX outside of golden cases: the prompt, files that are read again, and what is told of failures.

use crate::messages::HEAD;
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use testkit::penstock::{binary, root};
use testkit::{Lab, Penstock, Sender, run_command, wait_until};

/// Exit code, standard output and standard error.
fn filterx(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(binary());
    command.arg("filterx").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("room");
    let output = child.wait_with_output().expect("its end");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A line without the time at its end.
fn without_time(line: &str) -> &str {
    line.rsplit_once(" (").expect("a time").0
}

#[test]
fn an_expression_has_a_value_and_a_type() {
    let args =
        ["--message", "user=root n=5", "--set", "X=abc", "-e", "kv = parse_kv($MSG)", "-e", "kv.user + $X"];
    let (code, out, err) = filterx(&args, "");
    let lines: Vec<&str> = out.lines().map(without_time).collect();
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(lines, ["{\"user\":\"root\",\"n\":\"5\"} : dict", "\"rootabc\" : string"]);
    // A message with a priority is read as it comes in.
    let (_, out, _) = filterx(
        &["--message", "<13>Nov 24 10:00:00 web su[7]: hi", "-e", "[$HOST, $PROGRAM, $PID, $MSG]"],
        "",
    );
    assert_eq!(without_time(out.trim_end()), "[\"web\",\"su\",\"7\",\"hi\"] : list");
    // What is false is a value as well.
    assert_eq!(filterx(&["-e", "1 == 2"], "").0, Some(0));
}

#[test]
fn what_fails_is_told_with_its_operands_and_ends_with_1() {
    let (code, out, err) = filterx(&["--set", "N=7", "-e", "d = {\"a\": 1}; d.a + 1 > 5 or $N == 8; 1"], "");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("failed: bailing out due to a falsy expr: false"), "{err}");
    assert!(err.contains("expression:1:15: d.a + 1 > 5 or $N == 8"), "{err}");
    assert!(err.contains("with d.a = 1, $N = \"7\""), "{err}");
    let (code, _, err) = filterx(&["-e", "len($NOSUCH)"], "");
    assert!(
        code == Some(1)
            && err.contains("Variable is unset: \"$NOSUCH\"")
            && err.contains("$NOSUCH is not set")
    );
    let (code, _, err) = filterx(&["-e", "lenn(1)"], "");
    assert!(code == Some(1) && err.contains("Y0102") && err.contains("`len`"), "{err}");
    assert_eq!(filterx(&["--set", "no value"], "").0, Some(2));
    assert_eq!(filterx(&["--set", "YEAR=5", "-e", "1"], "").0, Some(2));
}

#[test]
fn lines_of_standard_input_go_on_while_brackets_are_open() {
    let input = "x = {\n  \"a\": [1,\n 2]\n}\n\n# a comment\nif (x.a[0] == 1) {\n $NEW = \"set\";\n};\n$NEW\n:show\n:reset\nx ?? \"gone\"\ndrop\n";
    let (code, out, err) = filterx(&[], input);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(without_time(lines[0]), "{\"a\":[1,2]} : dict");
    assert!(lines.contains(&"${NEW} = set") && lines.contains(&"${MESSAGE} = hello world"), "{out}");
    assert_eq!(without_time(lines[lines.len() - 2]), "\"gone\" : string");
    assert_eq!(without_time(lines[lines.len() - 1]), "dropped");
    // A bracket that nobody closes is an error at the end.
    let (code, _, err) = filterx(&[], "1 + (2\n");
    assert!(code == Some(1) && err.contains("Y0101"), "{err}");
}

#[test]
fn variables_stay_when_the_message_changes_and_templates_may_ask_filters() {
    let input = "v = {\"a\": $MSG}\n$X = 1\n:message <13>Nov 24 10:00:00 web su[7]: hi\n[v.a, $MSG, $HOST, isset($X)]\n:show\n\
                 :reset\nv ?? \"gone\"\n\"$(if '\\\"$HOST\\\" eq \\\"host\\\"' yes no) $(grep 'program(app)' $MSG)\"\n";
    let (code, out, err) = filterx(&[], input);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    let shows = |text: &str| lines.iter().any(|line| line.starts_with(text));
    assert!(shows("[\"hello world\",\"hi\",\"web\",false] : list"), "{out}");
    assert!(
        shows("${MESSAGE} = hi") && shows("\"gone\" : string") && shows("\"yes hello world\" : string"),
        "{out}"
    );
}

#[test]
fn blocks_with_backticks_and_calls_are_counted_where_they_stand() {
    let lab = Lab::new();
    std::fs::write(lab.path("statements.fx"), "@define wanted \"no\"\n$PROGRAM == `wanted`;").unwrap();
    let config = format!(
        "{HEAD}@define want \"hello\"\nblock filterx chk(v()) {{\n  $MSG == `v`\n}};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         log {{ source(s); filterx {{ chk(v=\"a\"); }}; destination {{ file(\"%dir%/a\"); }}; }};\n\
         log {{ source(s); filterx {{ `want` == $MSG; }}; destination {{ file(\"%dir%/b\"); }}; }};\n\
         log {{ source(s); filterx {{\n@include \"%dir%/statements.fx\"\n}}; destination {{ file(\"%dir%/c\"); }}; }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>Nov 11 01:02:03 web app: text");
    sender.finish();
    penstock.wait_settled(1);
    let state = penstock.state().display().to_string();
    let ledger = run_command(&["ledger", "--json", "--state-dir", &state]).stdout;
    let ledger: Value = serde_json::from_str(&ledger).expect("JSON");
    let blocks = ledger["filterx"].as_array().expect("a list");
    let places: Vec<&str> = blocks.iter().filter_map(|block| block["place"].as_str()).collect();
    let lines = config.lines().enumerate().filter(|(_, line)| line.contains("filterx {"));
    let expected: Vec<String> = lines.map(|(at, _)| format!("penstock.conf:{}:", at + 1)).collect();
    assert_eq!((places.len(), expected.len()), (3, 3), "{ledger:#}");
    for expected in &expected {
        assert!(places.iter().any(|place| place.contains(expected.as_str())), "{ledger:#}");
    }
}

/// Several in one block that is called twice: each has its count, in each place.
#[test]
fn blocks_in_a_block_are_counted_one_by_one() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}block log inner() {{ filterx {{ $MSG == \"inner\"; }}; }};\n\
         block log outer() {{\n filterx {{ isset($MSG); }}; filterx {{ $PID == \"1\"; }};\n\
         junction {{ channel {{ filterx {{ $PROGRAM == \"no\"; }}; }}; channel {{ inner(); }}; }}; }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         log {{ source(s); outer(); destination {{ file(\"%dir%/a\"); }}; }};\n\
         log {{ source(s); inner(); destination {{ file(\"%dir%/b\"); }}; }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>Nov 11 01:02:03 web app[2]: text");
    sender.line("<13>Nov 11 01:02:03 web app[1]: text");
    sender.finish();
    penstock.wait_settled(2);
    let state = penstock.state().display().to_string();
    let ledger = run_command(&["ledger", "--json", "--state-dir", &state]).stdout;
    let ledger: Value = serde_json::from_str(&ledger).expect("JSON");
    let at = |text: &str| config.lines().position(|line| line.contains(text)).unwrap() + 1;
    let (outer, inner) = (at("outer(); destination"), at("inner(); destination"));
    let counts: Vec<(String, u64)> = ledger["filterx"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|block| {
            let place =
                block["place"].as_str().unwrap_or_default().replace(&lab.path("").display().to_string(), "");
            // Without the columns.
            let place = place.split(", ").map(|part| part.rsplit_once(':').map_or(part, |(line, _)| line));
            (place.collect::<Vec<_>>().join(", "), block["failed"]["falsy"].as_u64().unwrap_or_default())
        })
        .collect();
    let (second, third, last) = (at("isset"), at("junction"), at("block log inner"));
    let file = "penstock.conf";
    let expected = [
        (format!("{file}:{inner}, in inner() at {file}:{last}"), 2),
        (format!("{file}:{outer}, in outer() at {file}:{second}"), 1),
        (format!("{file}:{outer}, in outer() at {file}:{third}"), 1),
        (format!("{file}:{outer}, in outer() at {file}:{third}, in inner() at {file}:{last}"), 1),
    ];
    let mut counts = counts;
    counts.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(counts, expected, "{ledger:#}");
}

#[test]
fn json_has_everything() {
    let (code, out, _) =
        filterx(&["--json", "-e", "{\"a\": [1, null]}", "-e", "1 / $SCORE", "-e", "drop", "-e", "1 +"], "");
    let all: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((code, all.len()), (Some(1), 4));
    assert_eq!(
        (&all[0]["value"]["a"][0], &all[0]["type"], &all[0]["version"]),
        (&1.into(), &"dict".into(), &1.into())
    );
    assert!(all[0]["nanoseconds"].as_u64().is_some_and(|n| n > 0));
    assert_eq!(
        (&all[1]["outcome"], &all[1]["error"]["operands"]["$SCORE"]),
        (&"failed".into(), &Value::Null)
    );
    assert_eq!((&all[2]["outcome"], &all[3]["outcome"]), (&"dropped".into(), &"wrong".into()));
    assert_eq!(all[3]["findings"]["diagnostics"][0]["code"], "Y0101");
}

/// Texts and what they give, as the manual's pages have them side by side.
fn examples() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(root().join("docs/manual/filterx-functions.md")).expect("the page");
    let mut within = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            within = !within;
        } else if let (true, Some((text, value))) = (within, line.rsplit_once("    ")) {
            found.push((text.trim().to_owned(), value.trim().to_owned()));
        }
    }
    found
}

#[test]
fn the_examples_of_the_manual_hold_at_the_prompt() {
    // A file that an example names is not there.
    let mut examples = examples();
    examples.retain(|(text, _)| !text.contains("schema_file"));
    let mut wrong = Vec::new();
    let texts: String =
        examples.iter().map(|(text, _)| format!(":reset\n{}\n", text.replace('\n', " "))).collect();
    let (_, out, _) = filterx(&["--json"], &texts);
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), examples.len(), "{out}");
    for ((text, expected), answer) in examples.iter().zip(&answers) {
        let given = match answer["outcome"].as_str() {
            Some("value") => answer["repr"].as_str().unwrap_or_default().to_owned(),
            _ => format!("error: {}", answer["error"]["message"].as_str().unwrap_or_default()),
        };
        if given != *expected {
            wrong.push(format!("{text}: {given}, not {expected}"));
        }
    }
    assert!(examples.len() > 80 && wrong.is_empty(), "{} examples\n{}", examples.len(), wrong.join("\n"));
}

#[test]
fn a_file_of_json_is_read_again_when_it_changes() {
    let lab = Lab::new();
    let file = lab.path("known.json");
    std::fs::write(&file, "{\"web\": {\"team\": \"blue\"}}").unwrap();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$TEAM $LATE\\n\")); }};\n\
         log {{ source(s);\n\
         filterx {{ declare known = cache_json_file(\"{}\"); known.new = 1; }};\n\
         filterx {{ $TEAM = known[$HOST].team ?? \"nobody\"; \
         $LATE = cache_json_file(\"{}\", default_value={{\"x\": \"default\"}}).x; len(known) > 1; }};\n\
         destination(d); }};\n",
        file.display(),
        lab.path("late.json").display()
    );
    let penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let last =
        || std::fs::read_to_string(lab.path("out")).unwrap_or_default().lines().last().map(str::to_owned);
    let sees = |sender: &mut Sender, expected: &str| {
        wait_until(expected, || {
            sender.line("<13>Nov 11 01:02:03 web app: hello");
            std::thread::park_timeout(std::time::Duration::from_millis(20));
            last().as_deref() == Some(expected)
        });
    };
    sees(&mut sender, "blue default");
    std::fs::write(&file, "{\"web\": {\"team\": \"red, now\"}}").unwrap();
    sees(&mut sender, "red, now default");
    std::fs::write(lab.path("late.json"), "{\"x\": \"came\"}").unwrap();
    sees(&mut sender, "red, now came");
    // What cannot be read leaves what was there.
    std::fs::write(&file, "{\"web\": ").unwrap();
    wait_until("the error in the log", || penstock.log().contains("Error reading a JSON file"));
    std::fs::remove_file(lab.path("late.json")).unwrap();
    sees(&mut sender, "red, now came");
}

#[test]
fn failures_are_counted_by_block_and_cause_and_explained_with_operands() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ stats(level(1)); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s);\n  filterx {{\n    n = int($MSG);\n    n < 10;\n    $X = n + $NOSUCH;\n  }};\n\
         destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for text in ["text", "text", "11", "5", "5", "5"] {
        sender.line(&format!("<13>Nov 11 01:02:03 web app: {text}"));
    }
    sender.finish();
    penstock.wait_settled(6);
    let state = penstock.state().display().to_string();
    let ledger = run_command(&["ledger", "--json", "--state-dir", &state]).stdout;
    let ledger: Value = serde_json::from_str(&ledger).expect("JSON");
    let failed = &ledger["filterx"][0];
    let line = config.lines().position(|line| line.contains("filterx {")).unwrap() + 1;
    let place = format!("penstock.conf:{line}:");
    assert!(failed["place"].as_str().is_some_and(|said| said.contains(&place)), "{ledger:#}");
    assert_eq!(failed["failed"], serde_json::json!({"falsy": 1, "unset": 3, "type": 2}), "{ledger:#}");
    let stats = penstock.request("STATS PROMETHEUS");
    assert!(
        stats.lines().any(|line| line.contains("filterx_failures_total")
            && line.contains("cause=\"unset\"")
            && line.ends_with(" 3")),
        "{stats}"
    );
    let (path, _) = lab.write_config("tried.conf", &config);
    let outcome = run_command(&[
        "explain",
        "--config",
        path.to_str().unwrap(),
        "--line",
        "<13>Nov 11 01:02:03 web app: 12",
    ]);
    let lines: Vec<&str> = outcome.stdout.lines().map(str::trim).collect();
    let told = |start: &str, end: &str| {
        lines.iter().any(|line| line.contains("tried.conf:") && line.contains(start) && line.ends_with(end))
    };
    assert!(told("n = int($MSG)  with $MSG = \"12\"", "done"), "{outcome:?}");
    assert!(told("n < 10  with n = 12", "failed: bailing out due to a falsy expr: false"), "{outcome:?}");
    let outcome = run_command(&[
        "explain",
        "--config",
        path.to_str().unwrap(),
        "--line",
        "<13>Nov 11 01:02:03 web app: 2",
    ]);
    assert!(outcome.stdout.contains("n < 10  with n = 2  holds"), "{outcome:?}");
}

#[test]
fn evaluations_are_counted_from_level_3_on_and_what_fails_is_told_in_the_log() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ stats(level(3)); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$X\\n\")); }};\n\
         log {{ source(s); filterx {{ n = int($MSG) ?? 1; n < 10; if (n == 5) {{ $X = string(n); }}; }};\n\
         destination(d); }};\n"
    );
    let mut penstock = Penstock::configure(&lab, &config).arg("--log-level").arg("trace").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    for text in ["text", "11", "5", "6"] {
        sender.line(&format!("<13>Nov 11 01:02:03 web app: {text}"));
    }
    sender.finish();
    penstock.wait_settled(4);
    let stats = penstock.request("STATS PROMETHEUS");
    let counted = |kind: &str, name: &str| {
        let start = format!("syslogng_fx_{kind}_evals_total");
        let name = if name.is_empty() { String::new() } else { format!("name=\"{name}\"") };
        let line = stats.lines().find(|line| line.starts_with(&start) && line.contains(&name));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
    };
    let found = [
        counted("function", "int()"),
        counted("null_coalesce", ""),
        counted("conditional", ""),
        counted("function", "string()"),
        counted("variable", "$MSG"),
    ];
    assert_eq!(found, [Some(4), Some(4), Some(3), Some(1), Some(4)], "{stats}");
    let log = penstock.log();
    let told = |what: &str, part: &str| log.lines().any(|line| line.contains(what) && line.contains(part));
    assert!(told("FILTERX FALSY", "value='false', type='boolean'"), "{log}");
    assert!(told("FilterX: null coalesce suppressing error", "n = int($MSG) ?? 1"), "{log}");
}
