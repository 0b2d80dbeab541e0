//! `redis()`: lists, one for each program; the list of the program `bad` is none.

use super::{Destination, House, PLAIN, Receiver, Way, borrowed, certificate, shown};
use crate::lab::Lab;
use crate::redis::{MISSING, Redis};

pub(super) const ALL: &[Destination] = &[Destination { name: "redis", missing: MISSING, start, ..PLAIN }];

fn start(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let user = ["--user", "me", "on", ">good", "~*", "+@all", "--user", "default", "off"];
    let mut options: Vec<String> = Vec::new();
    let mut client: &[&str] = &[];
    match house {
        House::Guarded => {
            options.extend(user.map(str::to_owned));
            client = &["--user", "me", "--pass", "good", "--no-auth-warning"];
        }
        House::Secure => {
            let (cert, key) = certificate(lab);
            for (name, file) in
                [("--tls-cert-file", &cert), ("--tls-key-file", &key), ("--tls-ca-cert-file", &cert)]
            {
                options.extend([name.to_owned(), shown(file)]);
            }
            client = &["--tls", "--insecure"];
        }
        House::Open | House::Strict => {}
    }
    let redis = Redis::start(lab, &borrowed(&options), client)?;
    if house == House::Strict {
        redis.ask(&["SET", "logs-bad", "no list"]);
    }
    Some(Box::new(redis))
}

impl Receiver for Redis {
    fn port(&self) -> u16 {
        Redis::port(self)
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let login = format!("auth(\"me\" \"{}\")", way.word());
        let login = if way.house == House::Guarded { login } else { String::new() };
        format!(
            "redis(host(\"127.0.0.1\") port({}) command(RPUSH \"logs-$PROGRAM\" \"$MSG\") time-reopen(1) {login} {} {})",
            way.port,
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        Redis::kill(self);
    }

    fn run(&mut self) {
        Redis::run(self);
    }

    fn texts(&self) -> Vec<String> {
        let is_list = self.ask(&["TYPE", "logs-bad"]) == ["list"];
        let mut texts = self.list("logs-app");
        texts.extend(is_list.then(|| self.list("logs-bad")).into_iter().flatten());
        texts
    }

    fn mend(&mut self) -> bool {
        self.ask(&["DEL", "logs-bad"]);
        true
    }
}
