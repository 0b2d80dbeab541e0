//! Secrets from files reach the servers they are for, and are said nowhere.

use crate::messages::HEAD;
use std::process::Command;
use testkit::{HttpServer, Lab, Penstock, Reply, Sender, run_command};

const SECRET: &str = "pl4nted-\"t0ken\\x";

/// The secret in a file of the lab, as a configuration names it. Only the first line of the file counts.
fn planted(lab: &Lab) -> String {
    let file = lab.path("token");
    std::fs::write(&file, format!("{SECRET}\nsecond line\n")).expect("written");
    format!("`file:{}`", file.display())
}

/// Whatever the program writes, in the lab's folder or to whoever asks.
#[track_caller]
fn assert_hidden(what: &str, text: &str) {
    let escaped = SECRET.replace('\\', "\\\\").replace('"', "\\\"");
    for written in [SECRET, &escaped, "pl4nted"] {
        assert!(!text.contains(written), "{what} shows the secret: {text}");
    }
}

#[test]
fn a_secret_reaches_its_server_and_nobody_else() {
    let lab = Lab::new();
    let file = planted(&lab);
    let server = HttpServer::start(lab.port("hec"), |_| Reply::new(500).body("no"));
    let config = format!(
        "{HEAD}@include \"scl.conf\"\n\
         source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination hec {{ splunk-hec-event(url(\"http://127.0.0.1:%port:hec%\") token(\"{file}\") workers(1)); }};\n\
         destination off {{ http(url(\"http://127.0.0.1:%port:off%/\") headers(\"X-Key: {file}\") user(u) password({file})); }};\n\
         log {{ source(own); destination(hec); destination(off); flags(flow-control); }};\n"
    );
    let penstock = Penstock::configure(&lab, &config).arg("--log-level").arg("trace").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Oct 11 22:14:15 host app: hello\n");
    testkit::wait_until("a request", || !server.requests().is_empty());
    assert_eq!(server.requests()[0].header("authorization"), format!("Splunk {SECRET}"));
    for request in
        ["CONFIG GET ORIGINAL", "CONFIG GET PREPROCESSED", "STATS CSV", "STATS PROMETHEUS", "HEALTHCHECK"]
    {
        assert_hidden(request, &penstock.request(request));
    }
    assert!(penstock.request("CONFIG GET PREPROCESSED").contains("X-Key"), "the configuration is shown");
    let path = lab.write_config("again.conf", &config).0.display().to_string();
    let preprocessed = lab.path("preprocessed.conf").display().to_string();
    for command in [
        &["check", "--verbose", "--explain", path.as_str()][..],
        &["check", "--json", path.as_str()],
        &[
            "explain",
            "--config",
            path.as_str(),
            "--source",
            "own#0",
            "--line",
            "<13>Oct 11 22:14:15 host app: hello",
        ],
    ] {
        let said = run_command(command);
        assert_hidden(&format!("{command:?}"), &format!("{}{}", said.stdout, said.stderr));
    }
    let link = lab.path("syslog-ng");
    std::os::unix::fs::symlink(testkit::binary(), &link).expect("a link");
    let done = Command::new(&link).args(["-f", &path, "-s", "--preprocess-into", &preprocessed]).status();
    assert!(done.expect("the program").success());
    let text = lab.text("preprocessed.conf");
    assert!(text.contains(&file), "the name stands in the preprocessed text: {text}");
    assert_hidden("the preprocessed text", &text);
    // And that can be run again.
    let again = run_command(&["check", &preprocessed]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_hidden("the log", &penstock.log());
}

#[test]
fn a_secret_that_cannot_be_read_is_an_error() {
    let lab = Lab::new();
    std::fs::write(lab.path("short"), "abc\n").expect("written");
    for (name, expected) in [
        (format!("file:{}", lab.path("nothing").display()), "No such file"),
        (format!("file:{}", lab.path("short").display()), "fewer than 4 bytes"),
        ("file:relative".to_owned(), "begin with a slash"),
        ("credential:a/b".to_owned(), "no slash"),
    ] {
        let config = format!("{HEAD}destination d {{ http(url(\"http://h/\") password(\"`{name}`\")); }};\n");
        let path = lab.write_config("x.conf", &config).0.display().to_string();
        let said = run_command(&["check", &path]);
        assert_eq!(said.code, Some(1), "{name}");
        assert!(said.stderr.contains("P0047") && said.stderr.contains(expected), "{name}: {}", said.stderr);
    }
}

#[test]
fn a_credential_is_there_for_the_service_alone() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ http(url(\"http://127.0.0.1:9/\") user(u) password(\"`credential:siem`\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    );
    let path = lab.write_config("x.conf", &config).0.display().to_string();
    // Whoever looks at the file is not the service, and has no credentials.
    for looks in [&["check", "--verbose"][..], &["check", "--unit"], &["graph", "--dot"], &["diff", &path]] {
        let said = run_command(&[looks, &[path.as_str()]].concat());
        assert_eq!(said.code, Some(0), "{looks:?}: {said:?}");
    }
    let said = run_command(&["check", &path]);
    assert!(said.stderr.contains("harmless: `credential:siem` is known within the service only"), "{said:?}");
    // The service itself does not start without it.
    let state = lab.path("state").display().to_string();
    let said = run_command(&["run", "--config", &path, "--state-dir", &state]);
    assert!(said.code == Some(1) && said.stderr.contains("error[P0047]: cannot read the secret"), "{said:?}");
    // Where credentials are, one that is not among them is missing.
    let mut check = Command::new(testkit::binary());
    let said =
        check.args(["check", &path]).env("CREDENTIALS_DIRECTORY", lab.path("")).output().expect("it runs");
    assert!(String::from_utf8_lossy(&said.stderr).contains("error[P0047]"), "{said:?}");
}

#[test]
fn what_is_cut_shows_no_part_of_a_secret() {
    const CLEAR: &str = "pl4nted-in-clear";
    let lab = Lab::new();
    let secret = planted(&lab);
    // Wherever a text is cut, the secret lies across that place in one of these.
    for (before, word) in
        [(5, secret.as_str()), (395, &secret), (4_090, &secret), (390, CLEAR), (4_090, CLEAR)]
    {
        let text = format!("{}{word}", "A".repeat(before));
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ file(\"/tmp/x\" template(\"{text}\\n\")); }};\n\
             destination p {{ program(\"cat; : {text}\"); }};\n\
             destination h {{ http(url(\"http://127.0.0.1:9/\") user(u) password(\"{CLEAR}\")); }};\n\
             log {{ source(s); filter {{ not message(\"{text}\" type(string)); }}; destination(d); destination(p); }};\n"
        );
        let path = lab.write_config("x.conf", &config).0.display().to_string();
        let explains = [&["explain", "--config"][..], &["explain", "--json", "--config"]];
        let graphs = [&["graph"][..], &["graph", "--dot"], &["graph", "--mermaid"], &["graph", "--json"]];
        // What is written in clear in a command is shown with it.
        let graphs = graphs.into_iter().filter(|_| word != CLEAR);
        for asks in explains.into_iter().chain(graphs) {
            let message = if asks[0] == "explain" { &["--line", "<13>x"][..] } else { &[] };
            let said = run_command(&[asks, &[path.as_str()], message].concat());
            assert_eq!(said.code, Some(0), "{asks:?}: {said:?}");
            assert_hidden(&format!("{asks:?}"), &said.stdout);
            assert!(!said.stdout.contains("pl4n"), "{asks:?} shows a part of it: {}", said.stdout);
        }
    }
}

/// What the console shows, with its token.
const PAGES: [&str; 11] = [
    "/",
    "/metrics",
    "/healthz",
    "/readyz",
    "/ledger.json",
    "/graph.json",
    "/queues.json",
    "/log.json",
    "/configuration.json?node=destination:hec%230",
    "/history.json?kind=destination&name=hec%230",
    "/dropped.json?destination=hec%230",
];

#[test]
fn whatever_is_asked_nothing_shows_a_secret() {
    // In clear in the configuration, and from a file; of the console itself too.
    const CLEAR: &str = "cl34r-pl4nted";
    const TOKEN: &str = "0123456789-pl4nted-abcdef";
    let lab = Lab::new();
    let token = planted(&lab);
    std::fs::write(lab.path("console"), format!("{TOKEN}\n")).expect("written");
    let server = HttpServer::start(lab.port("hec"), |_| Reply::new(401).body("who are you?"));
    let config = format!(
        "{HEAD}@include \"scl.conf\"\n\
         options {{ console(port(%tcp:console%) token(\"`file:%dir%/console`\")); }};\n\
         source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination hec {{ splunk-hec-event(url(\"http://127.0.0.1:%port:hec%\") token(\"{token}\") workers(1)); }};\n\
         destination clear {{ http(url(\"http://name:{CLEAR}@127.0.0.1:%port:hec%/\") user(u) password(\"{CLEAR}\") retries(1)); }};\n\
         destination db {{ redis(host(127.0.0.1) port(%port:off%) auth(\"{CLEAR}\") command(\"LPUSH\" \"k\" \"$MSG\")); }};\n\
         log {{ source(own); destination(hec); destination(clear); destination(db); }};\n"
    );
    let mut penstock = Penstock::configure(&lab, &config).arg("--log-level").arg("trace").ready();
    Sender::tcp(lab.port("in")).raw(b"<13>Oct 11 22:14:15 host app: hello\n");
    testkit::wait_until("requests", || server.requests().len() > 1);
    penstock.wait_ledger(|ledger| (ledger.received() != 1).then(|| "one message".to_owned()));

    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    for page in PAGES {
        let answer = testkit::web::get(lab.port("console"), page, &bearer);
        assert_ne!(answer.status, 401, "{page}");
        assert_hidden(page, &format!("{answer:?}"));
        // Who has no token is not told it either.
        assert_hidden(page, &format!("{:?}", testkit::web::get(lab.port("console"), page, "")));
    }
    for request in [
        "STATS",
        "STATS PROMETHEUS",
        "LEDGER JSON",
        "HEALTHCHECK",
        "CONFIG VERIFY",
        "QUERY GET *",
        "LISTFILES",
    ] {
        assert_hidden(request, &penstock.request(request));
    }
    let state = penstock.state().display().to_string();
    let control = penstock.state().join("penstock.ctl").display().to_string();
    for command in [
        &["ledger", "--state-dir", state.as_str()][..],
        &["ledger", "--json", "--state-dir", state.as_str()],
        &["top", "--once", "--interval", "1", "--control", control.as_str()],
        &["queue", "ls", "--state-dir", state.as_str()],
        &["ctl", "stats", "--control", control.as_str()],
        &["ctl", "query", "get", "*", "--control", control.as_str()],
        &["tap", "--dropped", "--past", "--control", control.as_str()],
    ] {
        let said = run_command(command);
        assert_hidden(&format!("{command:?}"), &format!("{}{}", said.stdout, said.stderr));
    }
    // Errors of a reload: the line with the secret is the one that is wrong.
    penstock.rewrite(&lab, &config.replace("workers(1)", "wrokers(1)"));
    let answer = penstock.reload();
    assert!(answer.contains("wrokers"), "{answer}");
    assert_hidden("the answer to a reload", &answer);
    // At a start, the lines themselves are in the log.
    let wrong =
        lab.write_config("wrong.conf", &config.replace("retries(1)", "retires(1)")).0.display().to_string();
    let said =
        run_command(&["run", "--config", &wrong, "--state-dir", &lab.path("wrong").display().to_string()]);
    assert!(said.stderr.contains("retires(1)") && said.stderr.contains("^^^^"), "{said:?}");
    assert_hidden("errors at a start", &said.stderr);
    for entry in std::fs::read_dir(penstock.state()).expect("the state folder").flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        assert_hidden(&entry.path().display().to_string(), &String::from_utf8_lossy(&bytes));
    }
    assert_hidden("the log", &penstock.log());
}

/// Passwords that stand in the configuration itself: in a header and in a template that is sent.
#[test]
fn answers_about_messages_do_not_show_what_the_configuration_keeps_secret() {
    let lab = Lab::new();
    let server = HttpServer::start(lab.port("hec"), |_| Reply::new(200));
    let config = format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination web {{ http(url(\"http://127.0.0.1:%port:hec%/\") password(\"pl4nted-word\") user(u)\n\
             body(\"key=pl4nted-word $MSG\") headers(\"Authorization: Bearer pl4nted-token\")); }};\n\
         log {{ source(own); destination(web); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let state = lab.path("state").display().to_string();
    let looking = |args: &'static [&'static str]| {
        let state = state.clone();
        std::thread::spawn(move || run_command(&[args, &["--state-dir", &state, "--timeout", "60"]].concat()))
    };
    let asked =
        [looking(&["explain", "--json"]), looking(&["explain"]), looking(&["tap", "web", "--limit", "1"])];
    let mut sender = Sender::tcp(lab.port("in"));
    testkit::wait_until("the answers", || {
        sender.line("<13>Oct 11 22:14:15 host app: hello pl4nted-token");
        asked.iter().all(|one| one.is_finished())
    });
    for one in asked {
        let said = one.join().expect("a command");
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.stdout.contains("hello ***"), "{said:?}");
        assert_hidden("an answer", &format!("{}{}", said.stdout, said.stderr));
    }
    // The server gets what it is for.
    assert!(
        server.requests().iter().any(|request| request.header("authorization") == "Bearer pl4nted-token")
    );
    drop(penstock);
}

/// In what drivers are called by: addresses, commands. In answers of commands that run nothing.
#[test]
fn names_of_drivers_and_offline_answers_show_no_secret() {
    const CLEAR: &str = "cl34r-pl4nted";
    let lab = Lab::new();
    std::fs::write(lab.path("token"), "pl4nted-in-a-file\n").expect("written");
    let server = HttpServer::start(lab.port("hec"), |_| Reply::new(503));
    let config = format!(
        "{HEAD}options {{ console(port(%tcp:console%)); }};\n\
         source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination query {{ http(url(\"http://127.0.0.1:%port:hec%/in?api_key={CLEAR}-1\") persist-name(\"a\")); }};\n\
         destination path {{ http(url(\"http://127.0.0.1:%port:hec%/`file:%dir%/token`/in\") persist-name(\"b\")); }};\n\
         destination child {{ program(\"exec cat >/dev/null # `file:%dir%/token`\" persist-name(\"c\")); }};\n\
         destination proxied {{ http(url(\"http://127.0.0.1:%port:hec%/\") proxy(\"u:{CLEAR}-2@127.0.0.1:%port:hec%\") persist-name(\"d\")); }};\n\
         destination text {{ network(127.0.0.1 port(%port:off%) template(\"`file:%dir%/token` $MSG\") persist-name(\"e\")); }};\n\
         destination asked {{ http(url(\"http://127.0.0.1:%port:hec%/o\") cloud-auth(oauth2(client-id(\"c\") client-secret(\"{CLEAR}-3\")\n\
             token-url(\"http://127.0.0.1:%port:hec%/t\"))) body(\"{CLEAR}-3 $MSG\") persist-name(\"f\")); }};\n\
         log {{ source(own); destination(query); destination(path); destination(child); destination(proxied); destination(text); destination(asked); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    Sender::tcp(lab.port("in")).raw(b"<13>Oct 11 22:14:15 host app: hello\n");
    testkit::wait_until("a request", || !server.requests().is_empty());
    penstock.wait_ledger(|ledger| (ledger.received() != 1).then(|| "one message".to_owned()));
    for page in PAGES {
        assert_hidden(page, &format!("{:?}", testkit::web::get(lab.port("console"), page, "")));
    }
    for request in ["STATS CSV", "STATS PROMETHEUS", "LEDGER JSON", "HEALTHCHECK", "QUERY GET *"] {
        assert_hidden(request, &penstock.request(request));
    }
    assert_hidden("the log", &penstock.log());
    let path = |name: &str, text: &str| lab.write_config(name, text).0.display().to_string();
    let right = path("right.conf", &config);
    let other = path("other.conf", &config.replace(CLEAR, "other-pl4nted"));
    // Each finding has the line with a secret in it.
    let wrong =
        config.replace("persist-name(", "persist-nmae(").replace(&format!("body(\"{CLEAR}-3 "), "body(\"");
    let wrong = path("wrong.conf", &wrong);
    let line = ["--source", "own#0", "--line", "<13>Oct 11 22:14:15 host app: hello"];
    for (code, command) in [
        (0, [&["explain", "--config", &right][..], &line[..]].concat()),
        (0, [&["explain", "--json", "--config", &right][..], &line[..]].concat()),
        (1, vec!["diff", &right, &other]),
        (1, vec!["diff", "--json", &right, &other]),
        (1, vec!["check", &wrong]),
        (1, vec!["check", "--json", &wrong]),
        (0, vec!["graph", &right]),
        (0, vec!["graph", "--dot", &right]),
    ] {
        let said = run_command(&command);
        assert_eq!(said.code, Some(code), "{command:?}: {said:?}");
        assert_hidden(&format!("{command:?}"), &format!("{}{}", said.stdout, said.stderr));
    }
}
