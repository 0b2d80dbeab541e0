//! Several brokers that are one cluster, of which each can be killed and started alone.

use super::{TURNS, archives, committed, committed_values, java, produce};
use crate::ports::free_port;
use crate::process::Process;
use crate::turns::Turn;
use crate::wait::wait_until;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A cluster's name, which each of its brokers is told.
const ID: &str = "MkU3OEVBNTcwNTJENDM2Qk";

pub struct KafkaCluster {
    brokers: Vec<Broker>,
    _turn: Turn,
}

struct Broker {
    folder: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl KafkaCluster {
    /// Starts so many brokers, each a controller too, below a folder, and waits until they serve; `None` when
    /// there is no Kafka.
    #[track_caller]
    pub fn start(folder: &Path, count: usize) -> Option<KafkaCluster> {
        archives()?;
        let turn = TURNS.take(2);
        let controllers: Vec<u16> = (0..count).map(|_| free_port()).collect();
        let voters = controllers.iter().enumerate().map(|(at, port)| format!("{}@127.0.0.1:{port}", at + 1));
        let voters = voters.collect::<Vec<_>>().join(",");
        let broker = |at: usize| {
            let broker =
                Broker { folder: folder.join(format!("broker-{at}")), port: free_port(), process: None };
            broker.format(at + 1, &voters, controllers[at], count);
            broker
        };
        let mut cluster = KafkaCluster { brokers: (0..count).map(broker).collect(), _turn: turn };
        // A controller alone is none: all of them start before the first is waited for.
        cluster.brokers.iter_mut().for_each(Broker::spawn);
        (0..count).for_each(|at| cluster.wait(at));
        Some(cluster)
    }

    /// Where all of them are.
    pub fn servers(&self) -> String {
        self.brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port)).collect::<Vec<_>>().join(",")
    }

    /// Where one is; it stands in a rack of its own, `rack-1` and so on.
    pub fn port(&self, at: usize) -> u16 {
        self.brokers[at].port
    }

    /// Sends `key:value` lines with the Java producer.
    #[track_caller]
    pub fn produce(&self, topic: &str, lines: &str) {
        produce(&self.servers(), topic, "none", lines);
    }

    pub fn count(&self) -> usize {
        self.brokers.len()
    }

    /// Ends a broker without a word.
    pub fn kill(&mut self, at: usize) {
        if let Some(mut process) = self.brokers[at].process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// Ends a broker in order: it gives its partitions to the others first.
    pub fn stop(&mut self, at: usize) {
        if let Some(mut process) = self.brokers[at].process.take() {
            process.signal(rustix::process::Signal::TERM);
            process.wait_end();
        }
    }

    /// Starts a broker again and waits until it has what it missed.
    #[track_caller]
    pub fn run(&mut self, at: usize) {
        self.brokers[at].spawn();
        self.wait(at);
        wait_until("all copies in step", || self.is_in_step());
    }

    #[track_caller]
    fn wait(&mut self, at: usize) {
        let port = self.brokers[at].port;
        if let Some(process) = &mut self.brokers[at].process {
            process.wait_for(|| {
                let refused = TcpStream::connect(("127.0.0.1", port)).err();
                refused.map(|error| format!("the broker to listen: {error}"))
            });
        }
    }

    /// Whether no broker lacks anything of its copies.
    fn is_in_step(&self) -> bool {
        let mut command = java("org.apache.kafka.tools.TopicCommand", "-Xmx128m");
        command.args(["--bootstrap-server", &self.servers(), "--describe", "--under-replicated-partitions"]);
        let output = command.stderr(Stdio::null()).output().expect("java");
        output.status.success() && output.stdout.iter().all(u8::is_ascii_whitespace)
    }

    /// See [`committed_values`].
    #[track_caller]
    pub fn committed_values(&self, topic: &str, count: usize) -> Vec<String> {
        committed_values(&self.servers(), topic, count)
    }

    /// See [`committed`].
    pub fn committed(&self, group: &str) -> usize {
        committed(&self.servers(), group)
    }

    /// Makes a topic with a copy on each broker, one of which may be missing.
    #[track_caller]
    pub fn create(&self, topic: &str, partitions: usize) {
        let (copies, in_step) = (self.count().to_string(), self.count() - 1);
        let mut command = java("org.apache.kafka.tools.TopicCommand", "-Xmx128m");
        command.args(["--bootstrap-server", &self.servers(), "--create", "--topic", topic]);
        command.args(["--partitions", &partitions.to_string(), "--replication-factor", &copies]);
        command.args(["--config", &format!("min.insync.replicas={in_step}")]);
        let output = command.output().expect("java");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

impl Broker {
    /// Writes its configuration and makes its folder.
    fn format(&self, id: usize, voters: &str, controller: u16, count: usize) {
        std::fs::create_dir_all(&self.folder).expect("a folder");
        let listener = format!("PLAINTEXT://127.0.0.1:{}", self.port);
        let config = format!(
            "process.roles=broker,controller\nnode.id={id}\ncontroller.quorum.voters={voters}\n\
             listeners={listener},CONTROLLER://127.0.0.1:{controller}\nadvertised.listeners={listener}\n\
             controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\nlog.dirs={}\n\
             offsets.topic.replication.factor={count}\noffsets.topic.num.partitions=3\n\
             transaction.state.log.replication.factor={count}\ntransaction.state.log.num.partitions=1\n\
             transaction.state.log.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n\
             unclean.leader.election.enable=false\nbroker.session.timeout.ms=3000\n\
             broker.rack=rack-{id}\n\
             replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector\n\
             broker.heartbeat.interval.ms=500\nreplica.lag.time.max.ms=3000\n",
            self.folder.join("data").display()
        );
        std::fs::write(self.properties(), config).expect("a file");
        let mut format = java("kafka.tools.StorageTool", "-Xmx128m");
        format.args(["format", "-t", ID, "-c"]).arg(self.properties());
        let output = format.output().expect("java");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn properties(&self) -> PathBuf {
        self.folder.join("properties")
    }

    fn spawn(&mut self) {
        let mut command = java("kafka.Kafka", "-Xmx256m");
        command.arg(self.properties()).current_dir(&self.folder);
        self.process = Some(Process::spawn("kafka", command, None, &self.folder.join("log")));
    }
}
