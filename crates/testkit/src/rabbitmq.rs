//! A real RabbitMQ server, where the distribution's is installed: AMQP, STOMP and MQTT. What is in its
//! queues is read with pika, a client of AMQP for Python.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::postgres::{open_to_all, unprivileged};
use crate::process::Process;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no RabbitMQ server, see `./x servers rabbitmq`";

/// A server that keeps durable queues over a kill. The user `guest` may do everything from this machine.
pub struct Rabbitmq {
    dir: PathBuf,
    pub amqp: u16,
    pub amqps: u16,
    pub stomp: u16,
    pub stomps: u16,
    process: Option<Process>,
    _turn: MutexGuard<'static, ()>,
}

/// One at a time: it takes a core for ten seconds while it starts.
static TURN: Mutex<()> = Mutex::new(());

const PROGRAM: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

fn python() -> PathBuf {
    root().join("target/servers/rabbitmq/python/bin/python")
}

impl Rabbitmq {
    /// Starts a server in a folder of the lab. `certificate`: files with a certificate and its key (PEM), for
    /// connections with TLS.
    #[track_caller]
    pub fn start(lab: &Lab, certificate: Option<(&Path, &Path)>) -> Option<Rabbitmq> {
        (Path::new(PROGRAM).is_file() && python().is_file()).then_some(())?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = lab.path("rabbitmq");
        open_to_all(lab, &dir);
        let (amqp, amqps) = (free_port(), free_port());
        let (stomp, stomps) = (free_port(), free_port());
        let mut config = format!(
            "listeners.tcp.default = 127.0.0.1:{amqp}\nstomp.listeners.tcp.1 = 127.0.0.1:{stomp}\nmqtt.listeners.tcp = none\n\
             log.console = true\nlog.console.level = info\ndisk_free_limit.absolute = 1MB\n\
             vm_memory_high_watermark.absolute = 512MB\nmax_message_size = 1000000\n"
        );
        if let Some((certificate, key)) = certificate {
            for (from, name) in [(certificate, "server.pem"), (key, "server.key")] {
                std::fs::copy(from, dir.join(name)).expect("a copy");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
                std::fs::set_permissions(dir.join(name), mode).expect("a mode");
            }
            let at = dir.display();
            config.push_str(&format!(
                "listeners.ssl.default = 127.0.0.1:{amqps}\nstomp.listeners.ssl.1 = 127.0.0.1:{stomps}\nssl_options.certfile = {at}/server.pem\n\
                 ssl_options.keyfile = {at}/server.key\nssl_options.cacertfile = {at}/server.pem\n\
                 ssl_options.verify = verify_none\n"
            ));
        }
        std::fs::write(dir.join("rabbitmq.conf"), config).expect("a file");
        std::fs::write(dir.join("plugins"), "[rabbitmq_stomp].\n").expect("a file");
        let mut server = Rabbitmq { dir, amqp, amqps, stomp, stomps, process: None, _turn: turn };
        server.run();
        Some(server)
    }

    /// Starts it again, after [`Rabbitmq::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = unprivileged(PROGRAM);
        let (dir, distribution) = (self.dir.clone(), free_port());
        command.current_dir(&dir).env("HOME", &dir);
        for (name, value) in [
            ("RABBITMQ_CONFIG_FILE", dir.join("rabbitmq.conf").display().to_string()),
            ("RABBITMQ_ENABLED_PLUGINS_FILE", dir.join("plugins").display().to_string()),
            ("RABBITMQ_MNESIA_BASE", dir.join("data").display().to_string()),
            ("RABBITMQ_LOG_BASE", dir.join("log").display().to_string()),
            ("RABBITMQ_PID_FILE", dir.join("pid").display().to_string()),
            ("RABBITMQ_NODENAME", format!("test{}@localhost", self.amqp)),
            ("RABBITMQ_DIST_PORT", distribution.to_string()),
            ("RABBITMQ_LOGS", "-".to_owned()),
            // Without them a script stands between, which a kill would leave the server behind of.
            ("RABBITMQ_ALLOW_INPUT", "1".to_owned()),
            ("RABBITMQ_SERVER_START_ARGS", "-noinput".to_owned()),
            ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "+S 1:1 +sbwt none".to_owned()),
        ] {
            command.env(name, value);
        }
        let process = Process::spawn("rabbitmq", command, None, &self.dir.with_extension("log"));
        let port = self.amqp;
        self.process.insert(process).wait_for(|| {
            let error = TcpStream::connect(("127.0.0.1", port)).err();
            error.map(|error| format!("RabbitMQ to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// What a few lines of Python print, in which `channel` is a channel of the server.
    #[track_caller]
    pub fn ask(&self, script: &str) -> Vec<String> {
        let script = format!(
            "import pika\nconnection = pika.BlockingConnection(pika.ConnectionParameters('127.0.0.1', {}))\n\
             channel = connection.channel()\n{script}\nconnection.close()\n",
            self.amqp
        );
        let output = Command::new(python()).args(["-c", &script]).output().expect("Python");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// Makes a durable exchange and a durable queue of the same name that gets what is published there for a
    /// key.
    #[track_caller]
    pub fn declare(&self, name: &str, kind: &str, key: &str) {
        self.ask(&format!(
            "channel.exchange_declare('{name}', '{kind}', durable=True)\nchannel.queue_declare('{name}', durable=True)\n\
             channel.queue_bind('{name}', '{name}', '{key}')"
        ));
    }

    /// Takes all that is in a queue, and shows of each message what an expression of `properties` and `body`
    /// says.
    #[track_caller]
    pub fn take(&self, queue: &str, shown: &str) -> Vec<String> {
        self.ask(&format!(
            "count = channel.queue_declare('{queue}', passive=True).method.message_count\nchannel.basic_qos(prefetch_count=1000)\n\
             for method, properties, body in channel.consume('{queue}') if count else []:\n  print({shown})\n  \
             channel.basic_ack(method.delivery_tag)\n  count -= 1\n  if not count: break"
        ))
    }
}
