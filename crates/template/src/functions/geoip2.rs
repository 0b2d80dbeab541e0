//! `$(geoip2 --database FILE --field PATH ADDRESS)`: what a MaxMind database says of an address.

use crate::call::Call;
use crate::function::{Build, Function, FunctionInfo, with_args};
use crate::{Cost, Msg, RenderContext, Template, TemplateError, facts};
use maxminddb::{PathElement, Reader};
use record::{Demand, ValueType};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[FunctionInfo {
    name: "geoip2",
    usage: "--database FILE [--field PATH] ADDRESS",
    help: "a field of the entry of an address in a MaxMind database, country.iso_code unless another is given. The database is read \
           into memory when the configuration is, so a new one counts from the next reload on",
    arity: (1, 1),
    options: &[("--database", true), ("-d", true), ("--field", true), ("-f", true)],
    build: Build::Special(build),
    example: ("[$(geoip2 --database '' 127.0.0.1)]", "[]"),
    cost: Cost::of("a walk through the tree of the database, which is in memory, and a copy of the field"),
}];

/// Bytes of a database.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Levels of a path into an entry.
const LEVELS_MAX: usize = 8;

struct GeoIp2 {
    /// `None`: no database is named, nothing is found.
    reader: Option<Arc<Reader<Vec<u8>>>>,
    field: Box<[Box<str>]>,
    address: Box<[Template]>,
}

fn build(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let Some(path) = call.option("--database").or_else(|| call.option("-d")) else {
        return Err(call.error(0, "$(geoip2) needs a --database"));
    };
    call.made_from(Path::new(&path));
    let reader = match path.as_str() {
        "" => None,
        path => Some(
            open(path)
                .map_err(|error| call.error(0, format!("the database {path} cannot be read: {error}")))?,
        ),
    };
    let field = call.option("--field").or_else(|| call.option("-f"));
    let field = field.unwrap_or_else(|| "country.iso_code".to_owned());
    if field.split('.').count() > LEVELS_MAX {
        return Err(call.error(0, format!("the field `{field}` has more than {LEVELS_MAX} levels")));
    }
    call.boxed(GeoIp2 {
        reader,
        field: field.split('.').map(Box::from).collect(),
        address: call.templates(0)?,
    })
}

fn open(path: &str) -> Result<Arc<Reader<Vec<u8>>>, maxminddb::MaxMindDbError> {
    Reader::from_source(regular::read(Path::new(path), FILE_BYTES_MAX)?).map(Arc::new)
}

impl GeoIp2 {
    fn print(&self, address: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let address: IpAddr = std::str::from_utf8(address).ok()?.trim().parse().ok()?;
        let mut path = [(); LEVELS_MAX].map(|()| PathElement::Index(0));
        for (place, part) in path.iter_mut().zip(&self.field) {
            *place = match part.parse() {
                Ok(index) => PathElement::Index(index),
                Err(_) => PathElement::Key(part),
            };
        }
        let path = path.get(..self.field.len())?;
        let found = self.reader.as_ref()?.lookup(address).ok()?;
        if let Ok(text) = found.decode_path::<&str>(path) {
            out.extend_from_slice(text?.as_bytes());
        } else if let Ok(number) = found.decode_path::<u64>(path) {
            facts::put(out, format_args!("{}", number?));
        } else if let Ok(number) = found.decode_path::<f64>(path) {
            facts::put(out, format_args!("{:.6}", number?));
        } else if let Ok(yes) = found.decode_path::<bool>(path) {
            out.extend_from_slice(if yes? { b"true" } else { b"false" });
        }
        Some(())
    }
}

impl Function for GeoIp2 {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.address, msg, cx, |args, _| {
            self.print(args.get(0), out);
        });
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.address.iter().for_each(|address| address.reads(demand));
    }
}
