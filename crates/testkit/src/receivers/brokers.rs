//! What passes messages on: Kafka, RabbitMQ (AMQP and STOMP), Mosquitto (MQTT).

use super::{Destination, House, PLAIN, Receiver, Trial, Way, certificate, shown};
use crate::kafka::{self, Kafka};
use crate::lab::Lab;
use crate::mosquitto::{self, Mosquitto};
use crate::rabbitmq::{self, Rabbitmq};
use crate::wait::wait_until;
use std::cell::RefCell;
use std::path::PathBuf;

pub(super) const ALL: &[Destination] = &[
    Destination {
        name: "kafka",
        missing: kafka::MISSING,
        start: kafka,
        kills: 3,
        reorders_when_refused: true,
        once: &[Trial::ServerKilled],
        // Brokers are spoken to at the addresses that they say themselves.
        without: &[(Trial::Slow, "brokers are spoken to at the addresses that they say")],
        ..PLAIN
    },
    Destination { name: "amqp", missing: rabbitmq::MISSING, start: amqp, kills: 2, ..PLAIN },
    Destination {
        name: "stomp",
        missing: rabbitmq::MISSING,
        start: stomp,
        kills: 2,
        without: &[(Trial::Bad, "RabbitMQ takes whatever is a frame")],
        ..PLAIN
    },
    Destination { name: "mqtt", missing: mosquitto::MISSING, start: mqtt, ..PLAIN },
];

/// A strict topic takes short messages only.
const TOPIC_BYTES: &str = "max.message.bytes=20000";

fn kafka(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let keystore = (house == House::Secure).then(|| {
        let (cert, key) = certificate(lab);
        let both = [key, cert].map(|file| std::fs::read_to_string(file).expect("a file")).concat();
        std::fs::write(lab.path("keystore.pem"), both).expect("a file");
        lab.path("keystore.pem")
    });
    let kafka = Kafka::start(lab, "", keystore.as_deref())?;
    kafka.create("logs", 1, if house == House::Strict { &[TOPIC_BYTES] } else { &[] });
    Some(Box::new(kafka))
}

impl Receiver for Kafka {
    fn port(&self) -> u16 {
        0
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let login = "\"security.protocol\" => \"sasl_plaintext\" \"sasl.mechanism\" => \"SCRAM-SHA-512\" \"sasl.username\" => \"scram\"";
        let (server, properties) = match way.house {
            House::Secure => (self.with_tls(), "\"security.protocol\" => \"ssl\"".to_owned()),
            House::Guarded => {
                let password = if way.is_wrong { "wrong" } else { "secret" };
                (self.with_login(), format!("{login} \"sasl.password\" => \"{password}\""))
            }
            _ => (self.server(), String::new()),
        };
        format!(
            "kafka(bootstrap-servers(\"{server}\") topic(logs) \
             message(\"$(if ('$PROGRAM' eq 'bad') '$(padding '$MSG' 30000 x)' '$MSG')\") \
             config(\"reconnect.backoff.max.ms\" => \"500\" {properties}) time-reopen(1) {} {})",
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        Kafka::kill(self);
    }

    fn run(&mut self) {
        Kafka::run(self);
    }

    fn texts(&self) -> Vec<String> {
        let values =
            self.consume("logs", 0).into_iter().map(|one| one.value.trim_start_matches('x').to_owned());
        values.collect()
    }

    fn mend(&mut self) -> bool {
        self.configure("logs", "max.message.bytes=100000");
        true
    }
}

/// Taken messages are gone from the server: they are kept here.
struct Rabbit {
    server: Rabbitmq,
    taken: RefCell<Vec<String>>,
    is_stomp: bool,
}

impl Rabbit {
    fn start(lab: &Lab, house: House, is_stomp: bool) -> Option<Box<dyn Receiver>> {
        let files = (house == House::Secure).then(|| certificate(lab));
        let server = Rabbitmq::start(lab, files.as_ref().map(|(cert, key)| (cert.as_path(), key.as_path())))?;
        server.declare("logs", "topic", "app");
        if house != House::Strict {
            server.ask("channel.queue_bind('logs', 'logs', 'bad')");
        }
        Some(Box::new(Rabbit { server, taken: RefCell::default(), is_stomp }))
    }
}

fn amqp(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    Rabbit::start(lab, house, false)
}

fn stomp(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    Rabbit::start(lab, house, true)
}

impl Receiver for Rabbit {
    fn port(&self) -> u16 {
        if self.is_stomp { self.server.stomp } else { self.server.amqp }
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let password = if way.word() == "bad" { "wrong" } else { "guest" };
        let (name, own) = match self.is_stomp {
            true => ("stomp", "ack(yes) destination(\"/queue/logs\")"),
            false => ("amqp", "exchange(\"logs\") routing-key(\"$PROGRAM\") value-pairs(scope(none))"),
        };
        let secure = if self.is_stomp { self.server.stomps } else { self.server.amqps };
        let port = if way.house == House::Secure { secure } else { way.port };
        format!(
            "{name}(host(\"127.0.0.1\") port({port}) {own} body(\"$MSG\") username(\"guest\") password(\"{password}\") \
             time-reopen(1) {} {})",
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn run(&mut self) {
        self.server.run();
    }

    fn texts(&self) -> Vec<String> {
        self.taken.borrow_mut().extend(self.server.take("logs", "body.decode()"));
        self.taken.borrow().clone()
    }

    fn mend(&mut self) -> bool {
        self.server.ask("channel.queue_bind('logs', 'logs', 'bad')");
        true
    }
}

struct Heard {
    server: Mosquitto,
    rights: PathBuf,
}

fn mqtt(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let mut more = "listener PORT 127.0.0.1\n".to_owned();
    let mut login: Vec<String> = Vec::new();
    let rights = lab.path("rights");
    match house {
        House::Guarded => {
            let users = shown(&lab.path("users"));
            let words = ["-b", "-c", &users, "me", "good"];
            let made = std::process::Command::new("mosquitto_passwd").args(words).status();
            made.ok().filter(|status| status.success())?;
            more.push_str(&format!("password_file {users}\n"));
            login.extend(["-u", "me", "-P", "good"].map(str::to_owned));
        }
        House::Secure => {
            let (cert, key) = certificate(lab);
            more.push_str(&format!(
                "certfile {}\nkeyfile {}\nallow_anonymous true\n",
                cert.display(),
                key.display()
            ));
            let ca = shown(&lab.path("pki/ca.pem"));
            login.extend(["--cafile".to_owned(), ca, "--insecure".to_owned()]);
        }
        House::Strict => {
            std::fs::write(&rights, "topic readwrite logs/app\n").expect("a file");
            more.push_str(&format!("allow_anonymous true\nacl_file {}\n", rights.display()));
        }
        House::Open => more.push_str("allow_anonymous true\n"),
    }
    let login: Vec<&str> = login.iter().map(String::as_str).collect();
    let mut server = Mosquitto::start(lab, &more, &login)?;
    server.listen();
    Some(Box::new(Heard { server, rights }))
}

impl Receiver for Heard {
    fn port(&self) -> u16 {
        self.server.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let scheme = if way.house == House::Secure { "ssl" } else { "tcp" };
        let login = format!("username(\"me\") password(\"{}\")", way.word());
        let login = if way.house == House::Guarded { login } else { String::new() };
        format!(
            "mqtt(address(\"{scheme}://127.0.0.1:{}\") topic(\"logs/$PROGRAM\") template(\"$MSG\") qos(1) \
             protocol-version(\"5\") time-reopen(1) {login} {} {})",
            way.port,
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        // It writes down what it has when it ends in order.
        self.server.stop();
    }

    fn run(&mut self) {
        self.server.run();
    }

    fn texts(&self) -> Vec<String> {
        let mut texts = self.server.heard("logs/app");
        texts.extend(self.server.heard("logs/bad"));
        texts
    }

    fn mend(&mut self) -> bool {
        let before = self.server.subscribed();
        self.server.stop();
        std::fs::write(&self.rights, "topic readwrite logs/#\n").expect("a file");
        self.server.run();
        wait_until("the listener to be there again", || self.server.subscribed() > before);
        true
    }
}
