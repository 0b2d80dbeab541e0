//! The arithmetic: what an estate for a rate of messages needs, as steps that say what they stand on.

use super::figures::{self, Figure};
use control::cli::PlanArgs;

/// Of a network or a disk so much is used, on average and before bursts.
const USABLE: f64 = 0.7;
/// Partitions for each thread that reads, so that as many more can join.
const PARTITIONS_EACH: u64 = 2;
/// Fewer copies of Kafka's own notes do not survive a broker that is down for an upgrade.
const BROKERS_MIN: u64 = 3;
/// Below that rate two aggregators with rltp are less to look after than Kafka.
const KAFKA_FROM: f64 = 100_000.0;
const MICRO: f64 = 1e-6;

/// One line of the arithmetic.
pub struct Step {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// How it comes from what stands above it.
    pub how: String,
    /// The measured figures in it; none where it is only what was asked for.
    pub figures: Vec<Figure>,
}

#[derive(Default)]
pub struct Estate {
    pub steps: Vec<Step>,
    pub remarks: Vec<String>,
    pub machines: Machines,
}

/// What has to be bought.
#[derive(Default)]
pub struct Machines {
    pub edges: u64,
    pub partitions: u64,
    pub brokers: u64,
    pub workers: u64,
    /// Of the store: its own people know how it is divided into machines.
    pub store_cores: u64,
    pub kafka_terabytes: f64,
    pub store_terabytes: f64,
    pub cost: Option<f64>,
}

/// Why so many machines: the largest of several needs.
struct Need {
    machines: u64,
    how: String,
}

impl Estate {
    pub fn of(args: &PlanArgs) -> Estate {
        let mut estate = Estate::default();
        let megabytes = args.rate * f64::from(args.size) / 1e6;
        estate.step(
            "in",
            megabytes,
            "MB/s",
            format!("{} messages/s x {} bytes", round(args.rate), args.size),
        );
        estate.edges(args, megabytes);
        let workers = estate.workers(args, megabytes);
        estate.kafka(args, megabytes, workers);
        estate.store(args, megabytes);
        estate.cost(args);
        if args.rate < KAFKA_FROM {
            estate.remarks.push(format!(
                "below {} messages/s two aggregators with rltp() do without Kafka: docs/estate.md",
                round(KAFKA_FROM)
            ));
        }
        if args.compression <= 1.0 {
            estate.remarks.push(
                "nothing is compressed here: zstd -1 of your own logs says what --compression may be"
                    .to_owned(),
            );
        }
        estate
    }

    fn step(&mut self, name: &'static str, value: f64, unit: &'static str, how: String) {
        self.measured(name, value, unit, how, Vec::new());
    }

    fn measured(
        &mut self,
        name: &'static str,
        value: f64,
        unit: &'static str,
        how: String,
        figures: Vec<Figure>,
    ) {
        self.steps.push(Step { name, value, unit, how, figures });
    }

    fn edges(&mut self, args: &PlanArgs, megabytes: f64) {
        let mut figures = vec![figures::EDGE];
        figures.extend(args.tls.then_some(figures::TLS));
        let each: f64 = figures.iter().map(|figure| figure.value).sum();
        let cores = args.rate * each * MICRO;
        let how = format!("{} messages/s x {} us", round(args.rate), round(each));
        self.measured("CPU of edges", cores, "cores", how, figures);
        let out = megabytes / args.compression;
        let need = by_cores_or_network(args, cores, megabytes.max(out));
        self.machines.edges = need.machines + 1;
        let how = format!("{}, and one that may be down", need.how);
        self.step("edges", (need.machines + 1) as f64, "machines", how);
    }

    /// Returns the machines without the spare one.
    fn workers(&mut self, args: &PlanArgs, megabytes: f64) -> u64 {
        let store = figures::store(args.target);
        let cores = args.rate * store.worker.value * MICRO;
        let how = format!("{} messages/s x {} us", round(args.rate), round(store.worker.value));
        self.measured("CPU of workers", cores, "cores", how, vec![store.worker]);
        let need = by_cores_or_network(args, cores, megabytes);
        self.machines.workers = need.machines + 1;
        let how = format!("{}, and one that may be down", need.how);
        self.step("workers", (need.machines + 1) as f64, "machines", how);
        need.machines
    }

    fn kafka(&mut self, args: &PlanArgs, megabytes: f64, workers: u64) {
        let once = megabytes / args.compression;
        let copies = f64::from(args.copies);
        let cores = once * copies / figures::BROKER.value;
        let how = format!("{} MB/s x {} copies / {} MB/s", round(once), args.copies, figures::BROKER.value);
        self.measured("CPU of brokers", cores, "cores", how, vec![figures::BROKER]);
        // What leaves brokers: the other copies, and what workers read.
        let network = once * copies;
        let how = format!("{} MB/s x ({} copies and one reader)", round(once), args.copies - 1);
        self.step("network of brokers", network, "MB/s each way", how);
        let terabytes = once * args.retention * copies / 1e6;
        let how = format!("{} MB/s x {} x {} copies", round(once), time(args.retention), args.copies);
        self.step("disks of brokers", terabytes, "TB", how);
        let bound = network / (figures::DISK.value * USABLE);
        let how = format!("{} MB/s / ({} MB/s x {USABLE})", round(network), figures::DISK.value);
        self.measured("disks that write it", bound, "disks", how, vec![figures::DISK]);
        let mut need = by_cores_or_network(args, cores, network);
        for (machines, how) in [
            (
                up(terabytes / (args.disk * USABLE)),
                format!("{} TB / ({} TB x {USABLE})", round(terabytes), args.disk),
            ),
            (up(bound * args.headroom), format!("{} disks that write, x {}", round(bound), args.headroom)),
        ] {
            if machines > need.machines {
                need = Need { machines, how };
            }
        }
        let brokers = (need.machines + 1).max(BROKERS_MIN).max(u64::from(args.copies));
        let how = format!("{}, and one that may be down; at least {BROKERS_MIN}", need.how);
        self.machines.brokers = brokers;
        self.machines.kafka_terabytes = terabytes;
        self.step("brokers", brokers as f64, "machines", how);
        let by_rate = up(once * args.headroom / figures::PARTITION.value);
        let by_readers = workers * u64::from(args.cores) * PARTITIONS_EACH;
        // The same number on each broker.
        let partitions = by_rate.max(by_readers).max(brokers).next_multiple_of(brokers);
        let how = format!(
            "the larger of {} MB/s x {} / {} MB/s and {workers} workers x {} cores x {PARTITIONS_EACH}, in multiples of {brokers}",
            round(once),
            args.headroom,
            figures::PARTITION.value,
            args.cores
        );
        self.machines.partitions = partitions;
        self.measured("partitions", partitions as f64, "partitions", how, vec![figures::PARTITION]);
    }

    fn store(&mut self, args: &PlanArgs, megabytes: f64) {
        let store = figures::store(args.target);
        let name = store.name;
        if let Some(server) = store.server {
            let cores = args.rate * server.value * MICRO;
            let how = format!("{name}: {} messages/s x {} us", round(args.rate), round(server.value));
            self.measured("CPU of the store", cores, "cores", how, vec![server]);
            self.machines.store_cores = up(cores * args.headroom);
            let how = format!("{} cores x {}", round(cores), args.headroom);
            self.step("cores of the store", self.machines.store_cores as f64, "cores", how);
        }
        let kept = args.kept.unwrap_or(args.retention);
        let terabytes = megabytes * kept / 1e6;
        self.machines.store_terabytes = terabytes;
        let how = format!(
            "{} MB/s x {}, one copy of the text: what {name} makes of it is for a trial to say",
            round(megabytes),
            time(kept)
        );
        self.step("text in the store", terabytes, "TB", how);
    }

    fn cost(&mut self, args: &PlanArgs) {
        let machines = &self.machines;
        let cores = (machines.edges + machines.brokers + machines.workers) * u64::from(args.cores)
            + machines.store_cores;
        let terabytes = machines.kafka_terabytes / USABLE + machines.store_terabytes / USABLE;
        let mut how = Vec::new();
        let mut cost = 0.0;
        if let Some(price) = args.core_price {
            cost += cores as f64 * price;
            how.push(format!("{cores} cores x {price}"));
        }
        if let Some(price) = args.terabyte_price {
            cost += terabytes * price;
            how.push(format!("{} TB x {price}, disks being {USABLE} full", round(terabytes)));
        }
        if !how.is_empty() {
            self.machines.cost = Some(cost);
            self.step("cost", cost, "a month", how.join(" + "));
        }
    }
}

/// Machines for so many busy cores and so many megabytes a second each way.
fn by_cores_or_network(args: &PlanArgs, cores: f64, megabytes: f64) -> Need {
    let wire = args.network * 1e3 / 8.0;
    let by_cores = up(cores * args.headroom / f64::from(args.cores));
    let by_network = up(megabytes * args.headroom / (wire * USABLE));
    if by_network > by_cores {
        let how =
            format!("{} MB/s x {} / ({} MB/s x {USABLE})", round(megabytes), args.headroom, round(wire));
        return Need { machines: by_network, how };
    }
    Need { machines: by_cores, how: format!("{} cores x {} / {}", round(cores), args.headroom, args.cores) }
}

/// Whole ones, at least one.
fn up(number: f64) -> u64 {
    number.ceil().max(1.0) as u64
}

/// In the largest unit of which it is a whole number.
pub fn time(seconds: f64) -> String {
    let units = [(86_400.0, "day"), (3600.0, "hour"), (60.0, "minute")];
    let whole = units.into_iter().find(|(length, _)| seconds % length == 0.0);
    let (length, unit) = whole.unwrap_or((1.0, "second"));
    let number = seconds / length;
    format!("{number} {unit}{}", if number == 1.0 { "" } else { "s" })
}

/// Three digits, so that it can be read: 2,000,000 as 2M.
pub fn round(number: f64) -> String {
    let (number, letter) = match number {
        n if n >= 1e9 => (n / 1e9, "G"),
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e5 => (n / 1e3, "k"),
        n => (n, ""),
    };
    let digits = match number {
        n if n >= 100.0 => 0,
        n if n >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{letter}")
}
