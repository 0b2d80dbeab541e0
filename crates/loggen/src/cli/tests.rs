use super::*;
use stdio::CommandError;

fn load(line: &str) -> Result<Load, CommandError> {
    let args = line.split_whitespace().map(|arg| spell_proxied(arg.into()));
    let args =
        Args::try_parse_from(std::iter::once("loggen".into()).chain(args)).map_err(|e| e.to_string())?;
    prepare(&args)
}

#[test]
fn definition_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn defaults_are_the_original_ones() {
    let load = load("-i -S 127.0.0.1 514").unwrap();
    assert_eq!(load.target, Target::Tcp("127.0.0.1:514".parse().unwrap()));
    assert_eq!((load.rate, load.duration, load.total), (Some(1000.0), Some(Duration::from_secs(10)), None));
    assert_eq!((load.style.size, load.style.body, load.style.stamp), (256, Body::Padd, false));
    assert_eq!((load.connections, load.idle), (1, 0));
}

#[test]
fn transports() {
    assert!(matches!(load("-i -D 127.0.0.1 514").unwrap().target, Target::Udp(_)));
    assert_eq!(load("-x -S /dev/log").unwrap().target, Target::UnixStream("/dev/log".into()));
    assert_eq!(load("-x -D /dev/log").unwrap().target, Target::UnixDgram("/dev/log".into()));
    assert_eq!(load("/dev/log").unwrap().target, Target::UnixStream("/dev/log".into()));
    assert_eq!(load("-6 ::1 514").unwrap().target.to_string(), "[::1]:514");
    for wrong in
        ["", "-i 127.0.0.1", "-x 127.0.0.1 514", "-i -x /dev/log", "-S -D 127.0.0.1 1", "127.0.0.1 notaport"]
    {
        assert!(load(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn message_format_and_framing() {
    let style = |line: &str| {
        load(&format!("{line} 127.0.0.1 514")).map(|load| (load.style.syntax, load.style.framing))
    };
    assert_eq!(style("").unwrap(), (Syntax::Rfc3164, Framing::Newline));
    assert_eq!(style("-P").unwrap(), (Syntax::Rfc5424, Framing::OctetCount));
    assert_eq!(style("-P -F").unwrap(), (Syntax::Rfc5424, Framing::Newline));
    assert_eq!(style("-P -D").unwrap(), (Syntax::Rfc5424, Framing::Newline));
    assert_eq!(style("--framing").unwrap(), (Syntax::Rfc3164, Framing::OctetCount));
    assert!(style("-p [a]").is_err());
    assert!(style("--hosts 3").is_err());
    assert!(style("--framing -D").is_err());
    assert_eq!(load("-P --sdata=[a] 127.0.0.1 514").unwrap().style.sdata.as_deref(), Some("[a]"));
}

#[test]
fn amount_and_rate() {
    let load_of = |line: &str| load(&format!("{line} 127.0.0.1 514")).unwrap();
    let load = load_of("-n 100 --active-connections=3 -r 7");
    assert_eq!((load.total, load.rate, load.duration), (Some(300), Some(7.0), None));
    assert_eq!(load_of("-n 100 -I 2").duration, Some(Duration::from_secs(2)));
    assert_eq!(load_of("-T").duration, None);
    assert_eq!(load_of("--perf").rate, None);
    assert_eq!(
        load_of("-R - -l -d --skip-tokens 2").replay.map(|r| (r.again, r.raw, r.skip_tokens)),
        Some((true, true, 2))
    );
}

#[test]
fn proxy_header_versions() {
    let version =
        |line: &str| load(&format!("{line} 127.0.0.1 514")).map(|load| load.proxy.map(|proxy| proxy.version));
    assert_eq!(version("").unwrap(), None);
    assert_eq!(version("-H").unwrap(), Some(Version::V1));
    assert_eq!(version("-H2").unwrap(), Some(Version::V2));
    assert!(version("--proxied=3").is_err());
}

#[test]
fn tls_over_tcp_only() {
    let secure = load("-U -H --proxied-tls-passthrough 127.0.0.1 6514").unwrap();
    assert!(secure.tls.is_some() && secure.proxy_in_clear);
    assert!(load("127.0.0.1 6514").unwrap().tls.is_none());
    assert!(load("-U -D 127.0.0.1 6514").unwrap().run().unwrap_err().said().contains("TLS is for TCP"));
    assert!(
        load("-U --cert-file /nowhere --key-file /nowhere 127.0.0.1 6514")
            .unwrap_err()
            .said()
            .contains("/nowhere")
    );
}
