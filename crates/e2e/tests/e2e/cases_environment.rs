//! `penstock test`: cases with an environment of their own, which reaches everything that reads it.

use crate::cases::{test, write};
use crate::messages::HEAD;
use testkit::{Lab, skip};

/// One source, what its text needs, and a destination that writes `template`.
fn config(more: &str, template: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n{more}\n\
         destination d {{ file(\"/nowhere/d\" template(\"{template}\\n\")); }};\n\
         filter f_site {{ host(\"`SITE`\"); }};\n\
         log {{ source(s); filter(f_site); destination(d); }};\n"
    )
}

fn case(name: &str, more: &str, line: &str) -> String {
    format!(
        "[[case]]\nname = \"{name}\"\nline = \"<13>Nov 23 10:00:00 web app: x\"\n{more}\n\
         [[case.expect]]\ndestination = \"d\"\nline = \"{line}\"\n"
    )
}

#[test]
fn the_environment_of_a_case_reaches_backticks_templates_generators_and_the_time_zone() {
    let lab = Lab::new();
    let ran = lab.path("ran").display().to_string();
    let script = format!("echo run >> {ran}\necho \"set(\\\"$SITE-$LEFT\\\" value(made))\"\n");
    std::fs::write(lab.path("made.sh"), script).unwrap();
    let generator = "@module confgen context(rewrite) name(made) exec(\"sh %dir%/made.sh\")\n\
                     rewrite r_made { made(); };";
    let config = config(generator, "`SITE` $(env SITE) ${made} $(env LEFT) $UNIXTIME")
        .replace("filter(f_site);", "filter(f_site); rewrite(r_made);");
    let cases = [
        "now = 2026-11-23T10:00:00Z\n[environment]\nSITE = \"web\"\nLEFT = \"l\"\nTZ = \"UTC\"\n".to_owned(),
        case("of the file", "", "web web web-l l 1795428000"),
        case("of the case", "environment = { SITE = 'w', TZ = 'America/New_York' }", "w w w-l l 1795446000"),
        case("not set", "environment = { LEFT = false }", "web web web-  1795428000"),
        case("empty", "environment = { SITE = '' }", "  -l l 1795428000"),
        case("once more", "", "web web web-l l 1795428000"),
        case(
            "once more of the case",
            "environment = { SITE = 'w', TZ = 'America/New_York' }",
            "w w w-l l 1795446000",
        ),
    ];
    let path = write(&lab, &config, &cases.concat());
    let outcome = test(&path, &["--verbose"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.ends_with("6 cases: 6 passed, 0 failed\n"), "{outcome:?}");
    // In the order of the file, and one compilation for each environment.
    let order: Vec<&str> =
        outcome.stdout.lines().filter_map(|line| line.rsplit_once(": ")).map(|(_, n)| n).collect();
    assert_eq!(
        order[..6],
        ["of the file", "of the case", "not set", "empty", "once more", "once more of the case"]
    );
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "run\n".repeat(4));
    // YAML has the same.
    std::fs::remove_file(&path).unwrap();
    let path = lab.path("relay.test.yaml");
    let yaml = "environment: { SITE: web, LEFT: false }\ncase:\n  - name: a\n    line: '<13>Nov 23 10:00:00 web app: x'\n    \
                environment: { TZ: UTC }\n    now: '2026-11-23T10:00:00Z'\n    expect:\n      - destination: d\n        \
                line: 'web web web-  1795428000'\n";
    std::fs::write(&path, yaml).unwrap();
    assert_eq!(test(&path, &[]).code, Some(0), "{:?}", test(&path, &[]));
}

#[test]
fn the_environment_of_a_case_reaches_python() {
    let lab = Lab::new();
    let code = "python {\nimport os, syslogng\nclass Made(syslogng.LogParser):\n    def parse(self, msg):\n        \
                msg['made'] = os.environ['SITE']\n        return True\n\
                syslogng.register_config_generator('rewrite', 'mark', lambda args: \
                'set-tag(\"' + os.environ['SITE'] + '\")')\n};\n\
                parser p { python(class(\"Made\")); };\nrewrite r { mark(); };";
    let config =
        config(code, "${made} $TAGS").replace("filter(f_site);", "filter(f_site); parser(p); rewrite(r);");
    if !std::process::Command::new("python3").arg("-V").output().is_ok_and(|out| out.status.success()) {
        return skip("python3 is not installed");
    }
    let cases = [
        case("one", "environment = { SITE = 'w' }", "w w,.source.s"),
        case("other", "environment = { SITE = 'e' }", "e e,.source.s"),
    ];
    let outcome = test(&write(&lab, &config, &cases.concat()), &[]);
    assert!(outcome.stdout.ends_with("2 cases: 2 passed, 0 failed\n"), "{outcome:?}");
}

#[test]
fn coverage_and_reports_are_of_all_environments_together() {
    let lab = Lab::new();
    let config = config("", "$MSG");
    let cases = [
        case("passes", "environment = { SITE = 'web' }", "x"),
        "[[case]]\nname = \"stops\"\nline = \"<13>Nov 23 10:00:00 web app: x\"\nenvironment = { SITE = 'db' }\n\
         dropped = \"f_site\"\n"
            .to_owned(),
    ];
    let path = write(&lab, &config, &cases.concat());
    let junit = lab.path("junit.xml").display().to_string();
    let outcome = test(&path, &["--coverage", "--junit", &junit]);
    assert!(outcome.stdout.contains("2 cases: 2 passed, 0 failed\n"), "{outcome:?}");
    assert!(!outcome.stdout.contains("holds") && !outcome.stdout.contains("never reached"), "{outcome:?}");
    assert!(outcome.stdout.contains("1 of 1 filters and parsers with both outcomes"), "{outcome:?}");
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"0\""), "{junit}");
    let one = test(&path, &["--coverage", "--only", "passes"]);
    assert!(one.stdout.contains("always holds"), "{one:?}");
    // What fails says in which environment, and is updated.
    std::fs::write(&path, cases.concat().replace("line = \"x\"", "line = \"y\"")).unwrap();
    let outcome = test(&path, &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for part in ["  with SITE=\"web\"\n", "    - y\n    + x", "filter f_site", "2 cases: 1 passed, 1 failed"]
    {
        assert!(outcome.stdout.contains(part), "{part}: {outcome:?}");
    }
    let said: serde_json::Value = serde_json::from_str(&test(&path, &["--json"]).stdout).expect("JSON");
    assert_eq!(said["configurations"][0]["cases"][0]["environment"]["SITE"], "web", "{said:#}");
    assert_eq!(test(&path, &["--update"]).code, Some(0));
    assert_eq!(test(&path, &[]).code, Some(0));
    // A configuration that cannot be used in one environment; the others are tested.
    let broken = config.replace("filter(f_site);", "`MORE`");
    let cases = [
        case("good", "environment = { SITE = '', MORE = '' }", "x"),
        case("bad", "environment = { MORE = 'filter(f_none);' }", "x"),
    ];
    let path = write(&lab, &broken, &cases.concat());
    let outcome = test(&path, &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for part in ["with MORE=\"filter(f_none);\":\n", "f_none", "1 case: 1 passed, 0 failed, 1 configuration"]
    {
        assert!(outcome.stdout.contains(part), "{part}: {outcome:?}");
    }
}
