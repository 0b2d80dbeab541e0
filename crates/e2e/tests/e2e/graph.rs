//! `penstock graph`: the drawing of a configuration, looked at as XML, by Graphviz where it is installed,
//! and beside a running program.

use crate::messages::HEAD;
use std::fmt::Write;
use std::process::{Command, Stdio};
use testkit::{Lab, Penstock, Sender, run_command};

const CONFIG: &str = "@version: 4.11\n\
    source s_net { network(ip(127.0.0.1) port(5514)); };\n\
    filter f_web { program(\"<web>\"); };\n\
    parser p_kv { kv-parser(prefix(\".kv.\")); };\n\
    rewrite r_mask { subst(\"[0-9]\", \"N\", value(\"MESSAGE\")); };\n\
    destination d_central { network(\"10.0.0.1\" port(514)); };\n\
    destination d_web { file(\"/var/log/web-${.kv.user}\"); };\n\
    log main { source(s_net); parser(p_kv);\n\
      if (filter(f_web)) { destination(d_web); } elif (host(\"db\")) { rewrite(r_mask); } else { filter { facility(kern) and facility(mail); }; };\n\
      destination(d_central); flags(flow-control); };\n\
    log { source(s_net); log { filter(f_web); destination(d_web); }; log { rewrite(r_mask); }; };\n";

fn graph(config: &str, args: &[&str]) -> String {
    let lab = Lab::new();
    let path = lab.path("x.conf");
    std::fs::write(&path, config).unwrap();
    let outcome = run_command(&[&["graph", &path.display().to_string()], args].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

/// All that is wrong with a text as XML would end the parser.
fn elements(svg: &str) -> Vec<String> {
    let python = "import sys, xml.etree.ElementTree as t\n\
        for e in t.fromstring(sys.stdin.read()).iter(): print(e.tag.split('}')[1], e.get('class') or '-', (e.text or '').strip().replace('\\n', ' | '))";
    let mut child = Command::new("python3")
        .args(["-c", python])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    std::io::Write::write_all(&mut child.stdin.take().expect("its input"), svg.as_bytes())
        .expect("the drawing");
    let done = child.wait_with_output().expect("the parser");
    assert!(done.status.success(), "no XML:\n{svg}");
    String::from_utf8(done.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

#[test]
fn a_configuration_is_drawn() {
    let svg = graph(CONFIG, &[]);
    let elements = elements(&svg);
    let has = |text: &str| elements.iter().any(|line| line == text);
    for text in [
        "text title s_net",
        "text detail network tcp 127.0.0.1:5514",
        "text title log main",
        "text title parser p_kv",
        "text title if",
        "text detail program(\"<web>\")",
        "text title elif",
        "text detail host(\"db\")",
        "text title else",
        "text title d_central",
        "text detail network tcp 10.0.0.1:514",
    ] {
        assert!(has(text), "{text} is not in\n{}", elements.join("\n"));
    }
    let count = |begin: &str| elements.iter().filter(|line| line.starts_with(begin)).count();
    assert_eq!(count("g source"), 1);
    assert_eq!(count("g destination"), 2);
    // What stands in the line of a filter that never holds lives on.
    for living in ["g case", "g destination", "g source"] {
        assert!(has(living) || has(&format!("{living} ")), "{living} is dead:\n{}", elements.join("\n"));
    }
    // The filter that never holds, the branch that leads to it, and the path that leads nowhere.
    assert!(count("g step dead") >= 2, "{}", elements.join("\n"));
    assert!(count("path arrow thick -") + count("path arrow thick") > 5, "{}", elements.join("\n"));
    assert!(count("path arrow dead") >= 2, "{}", elements.join("\n"));
}

#[test]
fn other_languages_draw_the_same() {
    let dot = graph(CONFIG, &["--dot"]);
    assert!(dot.contains("label=\"if\\nprogram(\\\"<web>\\\")\""), "{dot}");
    assert!(dot.contains("penwidth=3") && dot.contains("style=dashed"), "{dot}");
    if let Ok(mut child) =
        Command::new("dot").arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()
    {
        std::io::Write::write_all(&mut child.stdin.take().expect("its input"), dot.as_bytes())
            .expect("the drawing");
        assert!(child.wait().expect("dot").success(), "{dot}");
    }
    let mermaid = graph(CONFIG, &["--mermaid"]);
    assert!(mermaid.starts_with("flowchart LR\n"), "{mermaid}");
    assert!(mermaid.contains("==>") && mermaid.contains("-.->"), "{mermaid}");
    assert!(mermaid.contains("program(#34;#60;web#62;#34;)"), "{mermaid}");
}

#[test]
fn as_json_it_is_the_same() {
    let said: serde_json::Value = serde_json::from_str(&graph(CONFIG, &["--json"])).expect("JSON");
    assert_eq!(said["version"], 1);
    let (boxes, arrows) =
        (said["boxes"].as_array().expect("boxes"), said["arrows"].as_array().expect("arrows"));
    let dot = graph(CONFIG, &["--dot"]);
    assert_eq!(
        boxes.len(),
        dot.lines().filter(|line| line.contains(" [label=\"") && line.contains("tooltip")).count()
    );
    assert_eq!(arrows.len(), dot.lines().filter(|line| line.contains(" -> ")).count());
    let of_kind = |kind: &str| boxes.iter().filter(|one| one["kind"] == kind).count();
    for kind in ["source", "path", "step", "case", "destination"] {
        assert!(of_kind(kind) > 0, "{kind}: {said:#}");
    }
    assert!(
        boxes.iter().any(|one| one["is_dead"] == true)
            && arrows.iter().any(|one| one["flow_control"] == true)
    );
    for arrow in arrows {
        let ends = ["from", "to"].map(|end| arrow[end].as_u64().expect("a box") as usize);
        assert!(ends.iter().all(|end| boxes[*end]["id"] == *end), "{arrow}");
        assert!(arrow["messages_per_second"].is_null());
    }
    assert!(boxes.iter().all(
        |one| one["kind"] == "destination" || one["at"].as_str().is_some_and(|at| at.contains(".conf:"))
    ));
}

#[test]
fn each_box_has_the_place_and_the_name_of_what_it_is() {
    let config = format!("{CONFIG}log {{ source(s_net); parallelize(workers(2)); filter(f_web); }};\n");
    let said: serde_json::Value = serde_json::from_str(&graph(&config, &["--json"])).expect("JSON");
    let boxes = said["boxes"].as_array().expect("boxes");
    let places = |title: &str| {
        let titled = boxes.iter().filter(|one| one["title"] == title);
        titled.map(|one| one["at"].as_str().expect("a place").to_owned()).collect::<Vec<String>>()
    };
    let [filters, parsers, rewrites] = ["filter f_web", "parser p_kv", "rewrite r_mask"].map(places);
    assert!(filters.len() == 2 && filters.iter().all(|at| at.ends_with(":3")), "{filters:?}");
    assert!(parsers.iter().all(|at| at.ends_with(":4")), "{parsers:?}");
    assert!(rewrites.iter().all(|at| at.ends_with(":5")), "{rewrites:?}");
    assert_eq!(places("parallelize").len(), 1, "{said:#}");
}

#[test]
fn a_thousand_paths_stay_readable() {
    let mut config = "@version: 4.11\nsource s { network(port(5514)); };\n".to_owned();
    for n in 0..1000 {
        let _ = writeln!(config, "destination d_{n} {{ file(\"/var/log/{n}\"); }};");
        let _ =
            writeln!(config, "log {{ source(s); filter {{ program(\"p{n}\"); }}; destination(d_{n}); }};");
    }
    let _ = writeln!(config, "log other {{ source(s); destination {{ network(\"10.0.0.1\"); }}; }};");
    let svg = graph(&config, &[]);
    let found = elements(&svg);
    assert!(found.iter().any(|line| line == "text title 1000 log paths"), "{}", found.join("\n"));
    assert!(found.iter().any(|line| line == "text title 1000 destinations"));
    assert!(found.iter().any(|line| line == "text title log other"));
    assert!(svg.len() < 20_000, "{} bytes", svg.len());
    assert!(elements(&graph(&config, &["--all"])).iter().any(|line| line == "text title d_999"));
    let one = elements(&graph(&config, &["--only", "d_7", "--all"]));
    assert_eq!(one.iter().filter(|line| line.starts_with("g destination")).count(), 1);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let lab = Lab::new();
    let path = lab.path("x.conf");
    std::fs::write(&path, "log {").unwrap();
    let path = path.display().to_string();
    assert_eq!(run_command(&["graph", &path]).code, Some(1));
    std::fs::write(&path, CONFIG).unwrap();
    assert_eq!(run_command(&["graph", &path, "--only", "d_nosuch"]).code, Some(1));
    let state = lab.path("nosuch").display().to_string();
    let outcome = run_command(&["graph", &path, "--live", "--state-dir", &state]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("Does the program run?"), "{outcome:?}");
    assert_eq!(run_command(&["graph"]).code, Some(2));
}

#[test]
fn the_running_program_gives_the_rates() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         destination d_none {{ file(\"%dir%/none\"); }};\n\
         log {{ source(s); if (message(\"x\")) {{ destination(d); }} else {{ destination(d_none); }}; }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let path = lab.path("penstock.conf");
    let state = lab.path("state").display().to_string();
    let mut sender = Sender::tcp(lab.port("in"));
    let (config, args) = (path.display().to_string(), ["--live", "--state-dir", &state]);
    let outcome = std::thread::scope(|scope| {
        let drawing = scope.spawn(|| run_command(&[&["graph", &config], args.as_slice()].concat()));
        while !drawing.is_finished() {
            sender.line("<13>Nov 11 01:02:03 h p: x");
            std::thread::park_timeout(std::time::Duration::from_millis(2));
        }
        drawing.join().expect("the drawing")
    });
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json = run_command(&[&["graph", &config, "--json"], args.as_slice()].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let rate = |name: &str| {
        let mut boxes = json["boxes"].as_array().expect("boxes").iter();
        boxes.find(|one| one["name"] == name).and_then(|one| one["messages_per_second"].as_f64())
    };
    assert_eq!((rate("s"), rate("d_none")), (Some(0.0), Some(0.0)), "nothing comes now: {json:#}");
    let rates: Vec<String> =
        elements(&outcome.stdout).into_iter().filter(|line| line.starts_with("text rate")).collect();
    // Source, path, and what gets all; the other one gets nothing.
    let zeros = rates.iter().filter(|rate| rate.ends_with(" 0/s")).count();
    assert!((rates.len(), zeros) == (4, 1) && rates.iter().all(|rate| rate.ends_with("/s")), "{rates:?}");
    // So do the arrows: in, to the branch and on from there, and the same of the other branch.
    let flows: Vec<String> =
        elements(&outcome.stdout).into_iter().filter(|line| line.starts_with("text flow")).collect();
    let zeros = flows.iter().filter(|flow| flow.ends_with(" 0/s")).count();
    assert_eq!((flows.len(), zeros), (5, 2), "{flows:?}");
    penstock.stop();
}
