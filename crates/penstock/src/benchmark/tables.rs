//! What is measured: a table has one thing that is different from row to row.

use crate::rig::{Outgoing, Sample, Variant};
use std::path::Path;
use std::sync::Arc;
use stdio::CommandError;

/// Where a table is not about them.
const CONNECTIONS: u16 = 10;
const CONNECTIONS_TRIED: [u16; 6] = [1, 2, 5, 10, 50, CONNECTIONS_MAX];
pub const CONNECTIONS_MAX: u16 = 200;
const SIZES_TRIED: [usize; 6] = [128, 256, 512, 1024, 4096, 16_384];

/// What points stand on.
pub struct Ground<'g> {
    pub sample: &'g Arc<Sample>,
    /// A server's certificate and key of this machine.
    pub certificates: &'g Path,
    pub sink: u16,
}

pub struct Table {
    pub name: &'static str,
    pub title: &'static str,
    /// What the rows differ in.
    pub column: &'static str,
    pub points: Vec<Point>,
}

pub struct Point {
    pub row: String,
    /// The same for somebody who waits.
    pub about: String,
    pub sample: Arc<Sample>,
    pub connections: u16,
    pub is_secure: bool,
    pub variant: Variant,
}

/// The tables in whose name `only` stands.
pub fn chosen(ground: &Ground<'_>, only: &str) -> Result<Vec<Table>, CommandError> {
    let all = all(ground);
    let names = all.iter().map(|table| table.name).collect::<Vec<&str>>().join(", ");
    let chosen: Vec<Table> = all.into_iter().filter(|table| table.name.contains(only)).collect();
    if chosen.is_empty() {
        return Err(format!("no table has `{only}` in its name; there are {names}").into());
    }
    Ok(chosen)
}

fn all(ground: &Ground<'_>) -> Vec<Table> {
    let point = |row: String| Point {
        about: String::new(),
        row,
        sample: Arc::clone(ground.sample),
        connections: CONNECTIONS,
        is_secure: false,
        variant: Variant::default(),
    };
    let connections =
        CONNECTIONS_TRIED.map(|connections| Point { connections, ..point(connections.to_string()) });
    let sizes = SIZES_TRIED
        .map(|size| Point { sample: Arc::new(ground.sample.sized(size)), ..point(size.to_string()) });
    let mut tables = vec![
        Table::new("connections", "Connections", "connections", connections.into()),
        Table::new("size", "Size of the messages", "bytes", sizes.into()),
        Table::new("workers", "Worker threads", "workers", workers(&point)),
        Table::new("tls", "With and without TLS", "transport", encrypted(ground, &point)),
        Table::new("disk", "Disk buffer", "destinations", buffered(ground, &point)),
    ];
    for table in &mut tables {
        table.points.iter_mut().for_each(|point| point.about = format!("{} {}", table.column, point.row));
    }
    tables
}

impl Table {
    fn new(name: &'static str, title: &'static str, column: &'static str, points: Vec<Point>) -> Table {
        Table { name, title, column, points }
    }
}

/// 1, 2, 4 ... and as many as there are processors.
fn workers(point: &dyn Fn(String) -> Point) -> Vec<Point> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let fewer = std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < cores);
    let workers = |count: usize| Point {
        variant: Variant { workers: Some(count), ..Variant::default() },
        ..point(count.to_string())
    };
    fewer.chain([cores]).map(workers).collect()
}

fn encrypted(ground: &Ground<'_>, point: &dyn Fn(String) -> Point) -> Vec<Point> {
    let folder = ground.certificates.display();
    let source = format!(
        "transport(\"tls\") tls(key-file(\"{folder}/localhost.key\") cert-file(\"{folder}/localhost.pem\") peer-verify(\"optional-untrusted\"))"
    );
    let variant = Variant { source, ..Variant::default() };
    vec![point("TCP".to_owned()), Point { is_secure: true, variant, ..point("TLS".to_owned()) }]
}

fn buffered(ground: &Ground<'_>, point: &dyn Fn(String) -> Point) -> Vec<Point> {
    let over_tcp = |row: &str, network: &str| Point {
        variant: Variant {
            outgoing: Outgoing::Sink { port: ground.sink, has_all: true },
            network: network.to_owned(),
            ..Variant::default()
        },
        ..point(row.to_owned())
    };
    vec![
        point("/dev/null".to_owned()),
        over_tcp("TCP", ""),
        over_tcp("TCP, disk-buffer(reliable(no))", "disk-buffer(capacity-bytes(4GiB) reliable(no))"),
        over_tcp("TCP, disk-buffer(reliable(yes))", "disk-buffer(capacity-bytes(4GiB) reliable(yes))"),
    ]
}
