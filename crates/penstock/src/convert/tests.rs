use super::output;
use super::statements::Converter;
use std::path::Path;

/// The log paths of what a configuration becomes, and what is left of it.
fn converted(text: &str) -> (String, Vec<String>) {
    let mut converter = Converter::default();
    let rules = converter.text(text, Path::new("r.conf"));
    converter.share_out(rules);
    let (text, left) = output::render(converter, "r.conf");
    (text, left.into_iter().map(|left| format!("{}: {}", left.at, left.why)).collect())
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (made, left) = converted(&format!("input(type=\"imtcp\" port=\"514\")\n{text}"));
    assert_eq!(left, Vec::<String>::new(), "{made}");
    let paths: Vec<&str> = made.lines().map(str::trim).filter(|line| line.starts_with("log ")).collect();
    assert_eq!(paths, expected, "{made}");
}

#[test]
fn rules_are_log_paths() {
    check(
        "mail.* -/var/log/mail.log\n",
        &["log { source(s_default); filter { facility(mail); }; destination(d_mail_log); };"],
    );
    check(
        ":programname, isequal, \"x\" /var/log/x\n& stop\n*.* /var/log/all\n",
        &[
            "log { source(s_default); filter { match('^x(/|$)' value(\"PROGRAM\")); }; destination(d_x); flags(final); };",
            "log { source(s_default); destination(d_all); };",
        ],
    );
    check(
        "if $programname == 'x' then { action(type=\"omfile\" file=\"/x\") stop } else /y\n",
        &[
            "log { source(s_default); filter { match('^x(/|$)' value(\"PROGRAM\")); }; destination(d_x); flags(final); };",
            "log { source(s_default); filter { not match('^x(/|$)' value(\"PROGRAM\")); }; destination(d_y); };",
        ],
    );
}

/// As rsyslog 8 does it: what stands in front of them is ignored.
#[test]
fn rules_in_blocks_of_programs_are_for_all() {
    let (made, left) = converted("input(type=\"imtcp\" port=\"514\")\n!sshd\n*.* /a\n-h\n*.* /b\n");
    let paths: Vec<&str> = made.lines().filter(|line| line.starts_with("log ")).collect();
    let log = |name: &str| format!("log {{ source(s_default); destination({name}); }};");
    assert_eq!((paths, left.len()), (vec![log("d_a").as_str(), log("d_b").as_str()], 2), "{made} {left:?}");
}

#[test]
fn what_stops_in_a_block_stops_behind_it() {
    check(
        "if $syslogseverity <= 3 then {\n if $programname == 'x' then stop\n action(type=\"omfile\" file=\"/a\")\n}\n*.* /b\n",
        &[
            "log { source(s_default); filter { level(err..emerg); };",
            "log { filter { match('^x(/|$)' value(\"PROGRAM\")); }; flags(final); };",
            "log { destination(d_a); };",
            "log { source(s_default); filter { level(err..emerg) and match('^x(/|$)' value(\"PROGRAM\")); }; flags(final); };",
            "log { source(s_default); destination(d_b); };",
        ],
    );
}

#[test]
fn actions_stand_alone_in_a_block() {
    check(
        "if $syslogseverity <= 3 then {\n -/a\n @@h:1\n :omusrmsg:*\n}\n",
        &[
            "log { source(s_default); filter { level(err..emerg); }; destination(d_a); destination(d_h); destination(d_users); };",
        ],
    );
}

#[test]
fn what_stops_behind_a_block_stops_for_all() {
    check(
        "if $syslogseverity <= 3 then {\n if $programname == 'x' then { *.emerg /a\n}\n stop\n}\n*.* /b\n",
        &[
            "log { source(s_default); filter { level(err..emerg); };",
            "log { filter { match('^x(/|$)' value(\"PROGRAM\")); };",
            "log { filter { level(emerg); }; destination(d_a); };",
            "log { source(s_default); filter { level(err..emerg); }; flags(final); };",
            "log { source(s_default); destination(d_b); };",
        ],
    );
    check(
        "ruleset(name=\"r\") {\n /a\n stop }\nif $syslogseverity <= 3 then { call r\n /b\n}\n",
        &[
            "log { source(s_default); filter { level(err..emerg); };",
            "log { destination(d_a); };",
            "log { flags(final); };",
            "log { destination(d_b); };",
            "log { source(s_default); filter { level(err..emerg); }; flags(final); };",
        ],
    );
}

#[test]
fn what_is_not_converted_is_said() {
    for (text, place, why) in [
        ("module(load=\"mmnormalize\")", "r.conf:1", "the module mmnormalize"),
        ("\n$NoSuchThing on", "r.conf:2", "not known"),
        ("*.* :ommysql:host,db,user,pw", "r.conf:1", "the action `:ommysql"),
        ("set $!x = \"y\";", "r.conf:1", "variables"),
        ("if $!x == 'y' then /z", "r.conf:1", "the property $!x"),
        ("template(name=\"t\" type=\"subtree\" subtree=\"$!\")", "r.conf:1", "type subtree"),
        ("$template t,\"%msg:F,44:2%\"", "r.conf:1", "characters F,44 to 2"),
        ("*.* action(type=\"omfile\" file=\"/x\" nosuch=\"y\")", "r.conf:1", "the parameter nosuch"),
        ("garbage", "r.conf:1", "not understood"),
        ("!sshd", "r.conf:1", "a block of a program or a host: rsyslog obeys none"),
        ("action(type=", "r.conf:1", "parameters are not understood"),
        ("global(preserveFQDN=\"on\")", "r.conf:1", "the parameter preservefqdn"),
        ("module(load=\"imtcp\" preserveCase=\"off\")", "r.conf:1", "the parameter preservecase"),
        ("input(type=\"imudp\" port=\"1\" device=\"eth0\")", "r.conf:1", "the parameter device"),
        ("ruleset(name=\"r\" parser=\"x\") { }", "r.conf:1", "the parameter parser"),
        ("include(text=\"*.* /x\")", "r.conf:1", "the parameter text"),
        ("if $msg contains 'x' then {\n /x", "r.conf:1", "its block has no end"),
        ("ruleset(name=\"r\") { *.* /x", "r.conf:1", "its block has no end"),
        ("template(name=\"t\" type=\"list\") { constant(value=\"x\")", "r.conf:1", "has no end"),
        ("*.* /x\n}\n", "r.conf:2", "a closing brace too many"),
        ("*.* /x\n /* x", "r.conf:2", "a comment without an end"),
        ("*.* /x\n*.info\n", "r.conf:2", "it has no action"),
        ("input(type=\"imudp\" port=\"1\")\ncall nosuch", "r.conf", "there is no such ruleset"),
    ] {
        let (made, left) = converted(text);
        let found = left.iter().any(|left| left.starts_with(place) && left.contains(why));
        assert!(found, "{text}: {left:?}");
        assert!(made.contains("not converted"), "{made}");
    }
}

/// Who may connect, as a receiver and a sender of rsyslog say it: `tls()`, or why there is none.
#[track_caller]
fn check_peers(receiver: &str, sender: &str, expected: Result<&str, &str>) {
    let receiver = format!(
        "module(load=\"imtcp\" StreamDriver.Mode=\"1\" StreamDriver.CAFile=\"/ca\" {receiver})\n\
         input(type=\"imtcp\" port=\"1\")"
    );
    let sender = format!(
        "input(type=\"imudp\" port=\"1\")\n*.* action(type=\"omfwd\" target=\"log.example.com\" \
         protocol=\"tcp\" StreamDriverMode=\"1\" StreamDriver.CAFile=\"/ca\" {sender})"
    );
    for text in [receiver, sender] {
        let (made, left) = converted(&text);
        match expected {
            Ok(tls) => assert!(made.contains(tls) && left.is_empty(), "{text}: {made} {left:?}"),
            Err(why) => {
                assert!(left.iter().any(|left| left.contains(why)), "{text}: {left:?}");
                assert!(!made.contains("tls("), "{made}");
            }
        }
    }
}

#[test]
fn who_may_connect_is_said_or_listed() {
    check_peers(
        "StreamDriver.AuthMode=\"x509/name\" PermittedPeer=[\"*.example.com\", \"b\"]",
        "StreamDriverAuthMode=\"x509/name\" StreamDriverPermittedPeers=\"*.example.com,b\"",
        Err("only peers with the names *.example.com, b"),
    );
    check_peers(
        "StreamDriver.AuthMode=\"x509/fingerprint\" PermittedPeer=[\"SHA1:0A:0B\", \"SHA256:0C\"]",
        "StreamDriverAuthMode=\"x509/fingerprint\" StreamDriverPermittedPeers=\"SHA1:0A:0B,SHA256:0C\"",
        Ok("tls(trusted-fingerprints(\"SHA1:0A:0B\" \"SHA256:0C\") peer-verify(required-trusted))"),
    );
    check_peers(
        "StreamDriver.AuthMode=\"x509/fingerprint\"",
        "StreamDriverAuthMode=\"x509/fingerprint\"",
        Err("of which none is named"),
    );
    check_peers(
        "StreamDriver.AuthMode=\"x509/certvalid\" PermittedPeer=\"x\"",
        "StreamDriverAuthMode=\"x509/certvalid\" StreamDriverPermittedPeers=\"x\"",
        Ok("tls(ca-file(\"/ca\") peer-verify(required-trusted))"),
    );
    check_peers(
        "StreamDriver.AuthMode=\"anon\"",
        "StreamDriverAuthMode=\"anon\"",
        Ok("tls(ca-file(\"/ca\") peer-verify(optional-untrusted))"),
    );
    check_peers(
        "StreamDriver.AuthMode=\"no\"",
        "StreamDriverAuthMode=\"no\"",
        Err("the authentication `no`"),
    );
    // A sender looks at the name of its target, whatever is said; nobody has the name that is not said.
    for peers in ["", "StreamDriverPermittedPeers=\"log.example.com\""] {
        let sender = format!(
            "input(type=\"imudp\" port=\"1\")\n*.* action(type=\"omfwd\" target=\"log.example.com\" \
             protocol=\"tcp\" StreamDriverMode=\"1\" StreamDriverAuthMode=\"x509/name\" {peers})"
        );
        let (made, left) = converted(&sender);
        assert!(made.contains("tls(peer-verify(required-trusted))") && left.is_empty(), "{made} {left:?}");
    }
    let receiver =
        "input(type=\"imtcp\" port=\"1\" StreamDriver.Mode=\"1\" StreamDriver.AuthMode=\"x509/name\")";
    assert!(converted(receiver).1.iter().any(|left| left.contains("nobody would be let in")));
    let relp = "input(type=\"imrelp\" port=\"1\" tls=\"on\" tls.authMode=\"name\" tls.permittedPeer=[\"a\"])";
    assert!(converted(relp).1.iter().any(|left| left.contains("only peers with the names a")));
}

#[track_caller]
fn check_driver(text: &str, expected: &str) {
    let (made, left) = converted(&format!("input(type=\"imtcp\" port=\"514\")\n{text}"));
    assert_eq!(left, Vec::<String>::new(), "{made}");
    assert!(made.contains(expected), "{text}: {made}");
}

#[test]
fn addresses_of_ipv6_say_so() {
    check_driver(
        "*.* @@[2001:db8::2]:601",
        "network(\"2001:db8::2\" port(601) transport(tcp) ip-protocol(6))",
    );
    check_driver(
        "*.* action(type=\"omrelp\" target=\"::1\" port=\"2514\")",
        "relp(\"::1\" port(2514) ip-protocol(6)",
    );
    check_driver(
        "input(type=\"imudp\" port=\"1\" address=\"::1\")",
        "network(transport(udp) port(1) flags(syslog-protocol) ip-protocol(6) ip(\"::1\"))",
    );
    check_driver(
        "input(type=\"imrelp\" port=\"1\" address=\"::1\")",
        "relp(port(1) flags(syslog-protocol) ip-protocol(6) ip(\"::1\"))",
    );
    check_driver("*.* @h:1", "network(\"h\" port(1) transport(udp))");
}

#[test]
fn signs_of_ours_in_texts_of_theirs_are_doubled() {
    check_driver("*.* /tmp/a$b`c", "file(\"/tmp/a$$b``c\" template(");
    check_driver("*.* |/tmp/a$b", "pipe(\"/tmp/a$$b\" template(");
    check_driver("if $hostname == 'a$b`' then /x", "\"${HOST}\" eq \"a$$b``\"");
    check_driver("if $msg contains 'a$b`' then /x", "match(\"a$b``\" value(");
    check_driver("if re_match($msg, '`$') then /x", "match('``$' template(");
    check_driver("if $msg endswith '`' then /x", "match('``$' value(");
}

#[test]
fn rights_that_no_file_gets_are_taken_from_it() {
    check_driver("global(umask=\"0077\")\n*.* /x", "perm(0600)); };");
    check_driver("$Umask 0027\n$FileCreateMode 0666\n*.* /x", " perm(0640)); };");
    check_driver("$Umask 0022\n$FileCreateMode 0640\n*.* /x", " perm(0640)); };");
    let (made, _) = converted("input(type=\"imtcp\" port=\"514\")\n$Umask 0022\n*.* /x");
    assert_eq!(made.matches("perm(").count(), 1, "{made}");
}

#[test]
fn a_rule_without_an_action_has_the_next_rule_for_one() {
    check(
        "*.info\nmail.* /x\n",
        &[
            "log { source(s_default); filter { level(info..emerg); };",
            "log { filter { facility(mail); }; destination(d_x); };",
        ],
    );
    check("*.info\n/x\n", &["log { source(s_default); filter { level(info..emerg); }; destination(d_x); };"]);
}

#[test]
fn connections_are_read_as_rsyslog_reads_them() {
    check_driver("", "network(transport(auto) port(514) flags(syslog-protocol))");
    check_driver(
        "input(type=\"imptcp\" port=\"1\" supportOctetCountedFraming=\"off\")",
        "network(transport(tcp) port(1) flags(syslog-protocol))",
    );
    check_driver(
        "$ModLoad imudp\n$UDPServerRun 1\n:rawmsg, contains, \"<13>\" /x",
        "network(transport(udp) port(1) flags(store-raw-message syslog-protocol))",
    );
}

#[test]
fn what_goes_to_one_place_twice_has_a_name_of_its_own() {
    check_driver(
        "*.* @@h:1\n*.* @@(o)h:1;RSYSLOG_SyslogProtocol23Format\n",
        "destination d_h_2 { syslog(\"h\" port(1) transport(tcp) persist-name(\"d_h_2\")); };",
    );
    check_driver("*.* /x\nmail.* /x;RSYSLOG_TraditionalFileFormat\n", "persist-name(\"d_x_2\")); };");
    check_driver(
        "*.alert root\n*.crit operator,root\n",
        "destination d_users_2 { usertty(\"operator\"); usertty(\"root\" persist-name(\"d_users_2-2\")); };",
    );
    let (made, _) = converted("input(type=\"imtcp\" port=\"514\")\n*.* @h:1\n*.* @@h:1\n*.* @h:2\n*.* @h:1");
    assert!(!made.contains("persist-name"), "{made}");
}

#[test]
fn a_message_has_its_blank_where_it_matters() {
    let template =
        "template t_msg \"$(if (match('* ' value('LEGACY_MSGHDR') type(glob))) ' ' '')${MESSAGE}\";";
    check_driver("$template T,\"%msg%\\n\"\n*.* /x;T", template);
    check_driver(":msg, regex, \"^a\" /x", template);
    check_driver("*.* /x;RSYSLOG_SyslogProtocol23Format", "${SDATA:--} $(template t_msg)");
    let (made, _) = converted("input(type=\"imtcp\" port=\"514\")\n:msg, contains, \"a\" /x");
    assert!(!made.contains("t_msg"), "{made}");
}

#[test]
fn selectors_go_on_in_the_next_line() {
    let expected = "log { source(s_default); filter { not facility(mail, auth, authpriv) and level(debug); }; destination(d_debug); };";
    check("*.=debug;\\\n\tauth,authpriv.none;\\\n\tmail.none\t\t-/var/log/debug\n", &[expected]);
    check("*.=debug;\\\r\n auth,authpriv.none;\\\r\n mail.none -/var/log/debug\r\n", &[expected]);
}

#[test]
fn rules_of_the_old_form_go_to_their_ruleset() {
    let text = "$RuleSet remote\n*.* /r\n$InputTCPServerBindRuleset remote\n$InputTCPServerRun 601\n\
                $RuleSet RSYSLOG_DefaultRuleset\n*.* /local\n";
    check(
        text,
        &[
            "log { source(s_default); destination(d_local); };",
            "log { source(s_remote); destination(d_r); };",
        ],
    );
    check("$RuleSet a\n*.* /a\n$DefaultRuleset a\n", &["log { source(s_default); destination(d_a); };"]);
}

#[test]
fn records_for_other_hosts_have_the_template_that_is_named_for_them() {
    for text in [
        "$ActionForwardDefaultTemplate RSYSLOG_ForwardFormat\n*.* @@h",
        "module(load=\"builtin:omfwd\" Template=\"RSYSLOG_ForwardFormat\")\n*.* @@h",
    ] {
        check_driver(
            text,
            "network(\"h\" port(514) transport(tcp) template(\"<${PRI}>$ISODATE $HOST ${MSGHDR}${MESSAGE}\\n\"))",
        );
    }
}

#[test]
fn sizes_and_numbers_of_connections_are_those_that_are_said() {
    check_driver("$MaxMessageSize 64k\n*.* /x", "perm(0644); log-msg-size(65536); };");
    check_driver("global(maxMessageSize=\"8k\")\n*.* /x", "perm(0644); log-msg-size(8192); };");
    check_driver(
        "$InputTCPMaxSessions 500\n$InputTCPServerRun 1",
        "network(transport(auto) port(1) flags(syslog-protocol) max-connections(500))",
    );
}

#[test]
fn files_of_the_old_form_are_read() {
    check_driver(
        "$InputFileName /var/log/a\n$InputFileTag a:\n$InputFileStateFile s\n$InputFileSeverity info\n\
         $InputFileFacility local6\n$InputRunFileMonitor\n",
        "file(\"/var/log/a\" program-override(\"a\") default-facility(local6) default-level(info) flags(no-parse))",
    );
    check_driver(
        "input(type=\"imfile\" file=\"/a\" tag=\"b\" addMetadata=\"off\" readMode=\"0\")",
        "file(\"/a\" program-override(\"b\")",
    );
}

#[test]
fn no_text_makes_it_stumble() {
    let all = include_str!("tests/everything.conf");
    for end in (0..all.len()).filter(|end| all.is_char_boundary(*end)) {
        let _ = converted(&all[..end]);
        let _ = converted(&all[end..]);
    }
}
