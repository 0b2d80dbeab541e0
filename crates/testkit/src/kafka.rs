//! A real Kafka broker, when `scripts/servers kafka` has put it there, and what its own tools read from it; a
//! scripted one for the rest.

mod cluster;
mod scripted;

pub use cluster::KafkaCluster;
pub use scripted::{Act, ScriptedKafka, Written};

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use crate::turns::{Turn, Turns};
use crate::wait::wait_until;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why there is no broker; the test is skipped with it.
pub const MISSING: &str = "no Kafka broker, see `./x servers kafka`";

/// A broker that is its own cluster. Topics that are asked for are made, with three partitions.
pub struct Kafka {
    dir: PathBuf,
    port: u16,
    sasl: u16,
    ssl: Option<u16>,
    /// For the machine that it runs in.
    jvm: Vec<String>,
    process: Option<Process>,
    _turn: Turn,
}

/// Two brokers at a time, or one cluster: each broker takes a quarter of a gigabyte, and a core while it
/// starts.
static TURNS: Turns = Turns::of(2);

/// A message as the Java consumer prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumed {
    pub partition: usize,
    pub key: String,
    pub headers: String,
    pub value: String,
}

/// Where the broker's archives are.
fn archives() -> Option<String> {
    let folder = root().join("target/servers/kafka");
    let runs = Command::new("java").arg("-version").stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    (runs && folder.join("complete").is_file()).then(|| folder.join("lib").display().to_string() + "/*")
}

fn java(class: &str, heap: &str) -> Command {
    java_with(&[], class, heap)
}

fn java_with(properties: &[String], class: &str, heap: &str) -> Command {
    let mut command = Command::new("java");
    let archives = archives().expect("the archives were there");
    let classes = root().join("target/servers/kafka/classes.jsa");
    if classes.is_file() {
        // One that does not fit this Java is passed over, without a word among what a tool prints.
        command.arg(format!("-XX:SharedArchiveFile={}", classes.display()));
        command.args(["-Xlog:disable", "-Xlog:all=error:stderr"]);
    }
    command.args(properties).args([
        heap,
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        &archives,
        class,
    ]);
    command
}

impl Kafka {
    /// Starts a broker in a folder of the lab and waits until it serves; `None` when there is none. `more`:
    /// lines for its configuration. `keystore`: a file with its key and certificate (PEM), for a port with
    /// TLS.
    #[track_caller]
    pub fn start(lab: &Lab, more: &str, keystore: Option<&Path>) -> Option<Kafka> {
        Kafka::start_with(lab, more, keystore, &[])
    }

    /// The same, with properties of the machine that it runs in, `name=value`.
    #[track_caller]
    pub fn start_with(lab: &Lab, more: &str, keystore: Option<&Path>, jvm: &[&str]) -> Option<Kafka> {
        archives()?;
        let turn = TURNS.take(1);
        let dir = lab.path("kafka");
        std::fs::create_dir_all(&dir).expect("a folder");
        let (port, sasl, controller) = (free_port(), free_port(), free_port());
        let ssl = keystore.map(|_| free_port());
        let mut listeners = format!("PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{sasl}");
        let mut own = String::new();
        if let (Some(ssl), Some(keystore)) = (ssl, keystore) {
            listeners.push_str(&format!(",SSL://127.0.0.1:{ssl}"));
            own = format!("ssl.keystore.type=PEM\nssl.keystore.location={}\n", keystore.display());
        }
        let login = "org.apache.kafka.common.security";
        let config = format!(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n\
             listeners={listeners},CONTROLLER://127.0.0.1:{controller}\nadvertised.listeners={listeners}\n\
             controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL\n\
             sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512\n\
             listener.name.sasl_plaintext.plain.sasl.jaas.config={login}.plain.PlainLoginModule required user_plain=\"secret\";\n\
             listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config={login}.scram.ScramLoginModule required;\n\
             listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config={login}.scram.ScramLoginModule required;\n\
             log.dirs={}\nnum.partitions=3\nauto.create.topics.enable=true\noffsets.topic.replication.factor=1\n\
             offsets.topic.num.partitions=1\ntransaction.state.log.replication.factor=1\n\
             transaction.state.log.num.partitions=1\ntransaction.state.log.min.isr=1\n\
             group.initial.rebalance.delay.ms=0\n{own}{more}\n",
            dir.join("data").display()
        );
        std::fs::write(dir.join("properties"), config).expect("a file");
        let mut format = java("kafka.tools.StorageTool", "-Xmx128m");
        format.args(["format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c"]).arg(dir.join("properties"));
        for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
            format.args(["--add-scram", &format!("{mechanism}=[name=scram,password=secret]")]);
        }
        let output = format.output().expect("java");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let jvm = jvm.iter().map(|property| format!("-D{property}")).collect();
        let mut kafka = Kafka { dir, port, sasl, ssl, jvm, process: None, _turn: turn };
        kafka.run();
        Some(kafka)
    }

    /// Where it is spoken to in the clear.
    pub fn server(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where it wants a login: `plain` or `scram`, with the password `secret`.
    pub fn with_login(&self) -> String {
        format!("127.0.0.1:{}", self.sasl)
    }

    /// Where it speaks TLS.
    pub fn with_tls(&self) -> String {
        format!("127.0.0.1:{}", self.ssl.expect("started with a certificate"))
    }

    /// Starts it again, after [`Kafka::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = java_with(&self.jvm, "kafka.Kafka", "-Xmx256m");
        command.arg(self.dir.join("properties")).current_dir(&self.dir);
        let process = self.process.insert(Process::spawn("kafka", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            TcpStream::connect(("127.0.0.1", port))
                .err()
                .map(|error| format!("the broker to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// Makes a topic.
    #[track_caller]
    pub fn create(&self, topic: &str, partitions: usize, config: &[&str]) {
        let mut command = java("org.apache.kafka.tools.TopicCommand", "-Xmx128m");
        command.args(["--bootstrap-server", &self.server(), "--create", "--topic", topic]);
        command.args(["--partitions", &partitions.to_string(), "--replication-factor", "1"]);
        command.args(config.iter().flat_map(|config| ["--config", config]));
        let output = command.output().expect("java");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Deletes a topic.
    #[track_caller]
    pub fn delete(&self, topic: &str) {
        let mut command = java("org.apache.kafka.tools.TopicCommand", "-Xmx128m");
        command.args(["--bootstrap-server", &self.server(), "--delete", "--topic", topic]);
        let output = command.output().expect("java");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Changes a property of a topic.
    #[track_caller]
    pub fn configure(&self, topic: &str, property: &str) {
        let mut command = java("kafka.admin.ConfigCommand", "-Xmx128m");
        command.args(["--bootstrap-server", &self.server(), "--alter", "--entity-type", "topics"]);
        command.args(["--entity-name", topic, "--add-config", property]);
        let output = command.output().expect("java");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Sends `key:value` lines with the Java producer.
    #[track_caller]
    pub fn produce(&self, topic: &str, lines: &str) {
        self.produce_packed(topic, "none", lines);
    }

    /// The same, compressed.
    #[track_caller]
    pub fn produce_packed(&self, topic: &str, codec: &str, lines: &str) {
        produce(&self.server(), topic, codec, lines);
    }

    /// Everything in a topic, as the Java consumer reads it, once that is at least `count` messages.
    #[track_caller]
    pub fn consume(&self, topic: &str, count: usize) -> Vec<Consumed> {
        wait_until("messages in the topic", || self.offsets(topic) >= count);
        let count = self.offsets(topic);
        let mut command = java("org.apache.kafka.tools.consumer.ConsoleConsumer", "-Xmx256m");
        command.args(["--bootstrap-server", &self.server(), "--topic", topic, "--from-beginning"]);
        command.args(["--max-messages", &count.to_string(), "--timeout-ms", "60000"]);
        for property in
            ["print.key=true", "print.partition=true", "print.headers=true", "key.separator=\u{1}"]
        {
            command.args(["--formatter-property", property]);
        }
        let output = command.stderr(Stdio::null()).output().expect("java");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let consumed: Vec<Consumed> = text.lines().filter_map(consumed).collect();
        assert_eq!(consumed.len(), count, "what the consumer printed:\n{text}");
        consumed
    }

    /// The text of one message, as the Java consumer reads it.
    #[track_caller]
    pub fn value_at(&self, topic: &str, partition: u64, offset: u64) -> String {
        let mut command = java("org.apache.kafka.tools.consumer.ConsoleConsumer", "-Xmx128m");
        command.args(["--bootstrap-server", &self.server(), "--topic", topic, "--max-messages", "1"]);
        command.args(["--partition", &partition.to_string(), "--offset", &offset.to_string()]);
        let output = command.args(["--timeout-ms", "60000"]).stderr(Stdio::null()).output().expect("java");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// See [`committed_values`].
    #[track_caller]
    pub fn committed_values(&self, topic: &str, count: usize) -> Vec<String> {
        committed_values(&self.server(), topic, count)
    }

    /// See [`committed`].
    pub fn committed(&self, group: &str) -> usize {
        committed(&self.server(), group)
    }

    /// Messages in all partitions of a topic, by their offsets; 0 while it is not there.
    pub fn offsets(&self, topic: &str) -> usize {
        let mut command = java("org.apache.kafka.tools.GetOffsetShell", "-Xmx128m");
        command.args(["--bootstrap-server", &self.server(), "--topic", topic]);
        let output = command.stderr(Stdio::null()).output().expect("java");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(|line| line.rsplit(':').next()?.parse::<usize>().ok()).sum()
    }
}

/// Sends `key:value` lines with the Java producer.
#[track_caller]
fn produce(servers: &str, topic: &str, codec: &str, lines: &str) {
    let mut command = java("org.apache.kafka.tools.ConsoleProducer", "-Xmx128m");
    command.args(["--bootstrap-server", servers, "--topic", topic, "--compression-codec", codec]);
    command.args(["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("java");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), lines.as_bytes()).expect("written");
    assert!(child.wait().expect("java").success());
}

/// The values that a consumer gets which reads what is committed; there have to be `count` at least.
#[track_caller]
fn committed_values(servers: &str, topic: &str, count: usize) -> Vec<String> {
    let mut command = java("org.apache.kafka.tools.consumer.ConsoleConsumer", "-Xmx256m");
    command.args(["--bootstrap-server", servers, "--topic", topic, "--from-beginning"]);
    command.args(["--isolation-level", "read_committed", "--timeout-ms", "10000"]);
    let output = command.stderr(Stdio::null()).output().expect("java");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let values: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(values.len() >= count, "{} of {count}", values.len());
    values
}

/// What a group has committed, all partitions together, as the Java tool says it.
fn committed(servers: &str, group: &str) -> usize {
    let mut command = java("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "-Xmx128m");
    command.args(["--bootstrap-server", servers, "--describe", "--group", group]);
    let output = command.stderr(Stdio::null()).output().expect("java");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The group, a topic, a partition, the offset.
    text.lines().filter_map(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok()).sum()
}

/// `Partition:N ^A headers ^A key ^A value`.
fn consumed(line: &str) -> Option<Consumed> {
    let mut parts = line.split('\u{1}');
    let partition = parts.next()?.strip_prefix("Partition:")?.parse().ok()?;
    let (headers, key, value) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Consumed { partition, key: key.to_owned(), headers: headers.to_owned(), value: value.to_owned() })
}
