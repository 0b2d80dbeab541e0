//! Tests of the client's command line: the request of every command, and exit codes against a real socket.

use std::sync::Arc;

use clap::CommandFactory;

use super::*;
use crate::request::Request;
use crate::server::{Server, ServerOptions};
use crate::subject::fake::Fake;

#[test]
fn the_definition_is_sound() {
    Ctl::command().debug_assert();
}

#[test]
fn each_command_is_a_request_the_program_understands() {
    let check = |args: &str, expected: &str| {
        let args = ["syslog-ng-ctl"].into_iter().chain(args.split_whitespace());
        let ctl = Ctl::try_parse_from(args).expect(expected);
        let line = line(ctl.command).expect(expected);
        assert_eq!(line, expected);
        assert!(Request::parse(&line).is_ok(), "{line}");
    };
    check("stats", "STATS");
    check("stats csv", "STATS CSV");
    check("stats prometheus -l", "STATS PROMETHEUS WITH_LEGACY");
    check("stats --with-legacy-metrics prometheus", "STATS PROMETHEUS WITH_LEGACY");
    check("stats -m kv -a -n", "STATS KV WITHOUT_ORPHANED WITHOUT_HEADER");
    check("stats -r -c /x", "RESET_STATS");
    check("stats --remove-orphans", "REMOVE_ORPHANED_STATS");
    check("query list dst.*", "QUERY LIST dst.*");
    check("query list", "QUERY LIST");
    check("query get --sum --reset a b", "QUERY GET_SUM_RESET a b");
    check("query get x --sum", "QUERY GET_SUM x");
    check("query get -m prometheus x", "QUERY GET_PROMETHEUS x");
    check("verbose", "LOG VERBOSE");
    check("verbose --set=on", "LOG VERBOSE ON");
    check("debug --set off", "LOG DEBUG OFF");
    check("trace -s 1", "LOG TRACE ON");
    check("log-level", "LOG LEVEL");
    check("log-level debug", "LOG LEVEL debug");
    check("reload", "RELOAD");
    check("reload --drop d --health-time 3 --drop e", "RELOAD 3 DROP d DROP e");
    check("stop", "STOP");
    check("reopen", "REOPEN");
    check("config", "CONFIG GET ORIGINAL");
    check("config -p", "CONFIG GET PREPROCESSED");
    check("config --verify", "CONFIG VERIFY");
    check("config --diff", "CONFIG DIFF");
    check("reload --diff --drop d", "RELOAD DROP d");
    check("config -i", "CONFIG ID");
    check("list-files", "LISTFILES");
    check("export-config-graph", "EXPORT_CONFIG_GRAPH");
    check("healthcheck -t 3", "HEALTHCHECK");
    check("credentials status", "PWD status");
    check("credentials add -i key -s secret", "PWD add key secret");
    check("credentials add key secret", "PWD add key secret");
    check("attach debugger --seconds 3", "ATTACH");
    check("attach logs --log-level trace", "ATTACH");
    check("show-license-info", "LICENSE");
    check("show-license-info -J", "LICENSE JSON");
}

#[test]
fn the_default_socket_follows_the_name() {
    let nobody = Running::default();
    assert_eq!(meant(&nobody, CalledAs::SyslogNgCtl), Ok("/var/lib/syslog-ng/syslog-ng.ctl".into()));
    let named = Running { state_dir: Some("/s".into()), control: None };
    assert_eq!(meant(&named, CalledAs::Penstock), Ok("/s/penstock.ctl".into()));
    for args in [
        "attach logs -c /x/y.ctl",
        "-c /x/y.ctl attach logs",
        "attach --control /x/y.ctl",
        "stats -c /x/y.ctl",
    ] {
        let ctl = Ctl::try_parse_from(["syslog-ng-ctl"].into_iter().chain(args.split(' '))).expect(args);
        assert_eq!(meant(&ctl.running, CalledAs::SyslogNgCtl), Ok("/x/y.ctl".into()), "{args}");
    }
    assert_eq!(meant(&named, CalledAs::SyslogNgCtl), Ok("/s/penstock.ctl".into()));
}

#[test]
fn what_reads_the_configuration_may_take_its_time() {
    for (args, expected) in [
        ("stats", Some(ANSWER_MAX)),
        ("log-level debug", Some(ANSWER_MAX)),
        ("config", Some(ANSWER_MAX)),
        ("reload", None),
        ("roll-back", None),
        ("config --verify", None),
        ("config --diff", None),
    ] {
        let ctl = Ctl::try_parse_from(["ctl"].into_iter().chain(args.split(' '))).expect(args);
        assert_eq!(patience(&ctl.command), expected, "{args}");
    }
}

/// `ExitCode` can only be compared as text.
fn code(exit: ExitCode) -> String {
    format!("{exit:?}")
}

fn run(socket: &Path, args: &str) -> String {
    run_as("syslog-ng-ctl", socket, args)
}

fn run_as(program: &str, socket: &Path, args: &str) -> String {
    let mut all = vec![OsString::from(program)];
    all.extend(args.split_whitespace().map(OsString::from));
    all.push("--control".into());
    all.push(socket.into());
    code(run_ctl(all))
}

#[test]
fn exit_codes() {
    let [zero, one, two] = [0, 1, 2].map(|n| code(ExitCode::from(n)));
    let folder = tempfile::tempdir().expect("temporary folder");
    let socket = folder.path().join("x.ctl");
    assert_eq!(run(&socket, "stop"), one, "nobody listens");
    assert_eq!(run(&socket, "healthcheck"), two, "nobody listens");
    assert_eq!(run(&socket, "nonsense"), one);
    assert_eq!(run(&socket, "stats --bogus"), one);

    let server = Server::start(ServerOptions::new(&socket), Arc::new(Fake::default())).expect("server");
    assert_eq!(run(&socket, "healthcheck"), zero);
    assert_eq!(run(&socket, "query list nothing"), zero);
    assert_eq!(run(&socket, "config -p"), one, "the program refuses");
    assert_eq!(run(&socket, "attach"), one);
    drop(server);

    let mut sick = Fake::default();
    sick.health.complaints.push("no".into());
    let server = Server::start(ServerOptions::new(&socket), Arc::new(sick)).expect("server");
    assert_eq!(run_as("ctl", &socket, "healthcheck"), one);
    assert_eq!(run_as("ctl", &socket, "healthcheck --engine"), zero);
    assert_eq!(run(&socket, "healthcheck"), zero, "the engine answers");
    drop(server);

    // Listens and never answers.
    let _silent = std::os::unix::net::UnixListener::bind(&socket).expect("listener");
    assert_eq!(run(&socket, "healthcheck -t 1"), two);
}
