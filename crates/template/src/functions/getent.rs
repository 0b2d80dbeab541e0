//! `$(getent DATABASE KEY FIELD)`: users, groups, services and protocols of this machine, from its files in
//! /etc.

use crate::call::Call;
use crate::function::{Args, Build, Function, FunctionInfo, with_args};
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, ValueType};
use std::path::Path;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[FunctionInfo {
    name: "getent",
    usage: "passwd|group|services|protocols KEY [FIELD]",
    help: "looks a name or number up in /etc/passwd, /etc/group, /etc/services or /etc/protocols as they were when the \
           configuration was read: a number for a name, a name for a number, or FIELD: name uid gid gecos dir shell of users, name \
           gid members of groups",
    arity: (2, 3),
    options: &[],
    build: Build::Special(build),
    example: ("$(getent passwd root) $(getent passwd 0) $(getent passwd root dir)", "0 root /root"),
    cost: Cost::of("a search through the entries, which are in memory; no file is read for a message"),
}];

/// Files of more bytes are not read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The columns of a file of lines `a:b:c`, and the field that has the number.
struct Database {
    name: &'static str,
    path: &'static str,
    fields: &'static [&'static str],
    number: usize,
}

const DATABASES: &[Database] = &[
    Database {
        name: "passwd",
        path: "/etc/passwd",
        fields: &["name", "passwd", "uid", "gid", "gecos", "dir", "shell"],
        number: 2,
    },
    Database { name: "group", path: "/etc/group", fields: &["name", "passwd", "gid", "members"], number: 2 },
    Database { name: "services", path: "/etc/services", fields: &["name", "number"], number: 1 },
    Database { name: "protocols", path: "/etc/protocols", fields: &["name", "number"], number: 1 },
];

struct Getent {
    database: &'static Database,
    /// Its entries, in order.
    entries: Vec<Vec<Box<str>>>,
    /// Index of the field asked for; the number of a name and the name of a number without one.
    field: Option<usize>,
    key: Box<[Template]>,
}

fn build(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let name = call.literal(0, "the database")?;
    let Some(database) = DATABASES.iter().find(|d| d.name == name) else {
        return Err(call.error(0, format!("$(getent) has no database `{name}`")));
    };
    let mut field = None;
    if call.count() > 2 {
        let name = call.literal(2, "the field")?;
        let place = database.fields.iter().position(|f| *f == name && *f != "passwd");
        field = Some(place.ok_or_else(|| {
            call.error(2, format!("the database `{}` has no field `{name}`", database.name))
        })?);
    }
    call.made_from(Path::new(database.path));
    let entries = read(database, Path::new(database.path))
        .map_err(|error| call.error(0, format!("{} cannot be read: {error}", database.path)))?;
    let mut templates = call.templates(1)?.into_vec();
    templates.truncate(1);
    call.boxed(Getent { database, entries, field, key: templates.into() })
}

fn read(database: &Database, path: &Path) -> std::io::Result<Vec<Vec<Box<str>>>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    Ok(entries(database, &String::from_utf8_lossy(&regular::read(path, FILE_BYTES_MAX)?)))
}

fn entries(database: &Database, text: &str) -> Vec<Vec<Box<str>>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    if database.fields.len() > 2 {
        return lines.map(|line| line.split(':').map(Box::from).collect()).collect();
    }
    let mut all = Vec::new();
    for line in lines {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let (Some(name), Some(number)) = (words.next(), words.next()) else { continue };
        let number = number.split('/').next().unwrap_or_default();
        // Other names of a service follow its number. The first name is the one a number has.
        for name in std::iter::once(name).chain(words) {
            all.push(vec![Box::from(name), Box::from(number)]);
        }
    }
    all
}

impl Getent {
    fn find(&self, args: Args<'_>) -> Option<&str> {
        let key = std::str::from_utf8(args.get(0)).ok()?;
        let number = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
        let by = if number { self.database.number } else { 0 };
        let entry = self.entries.iter().find(|e| e.get(by).is_some_and(|field| **field == *key))?;
        let field = self.field.unwrap_or(if number { 0 } else { self.database.number });
        entry.get(field).map(|field| &**field)
    }
}

impl Function for Getent {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.key, msg, cx, |args, _| {
            out.extend_from_slice(self.find(args).unwrap_or_default().as_bytes());
        });
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.key.iter().for_each(|key| key.reads(demand));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let services = "# comment\nssh\t22/tcp\t# Secure Shell\ndomain 53/udp nameserver\n\nbroken\n";
        let getent = |database: usize, field, text: &str| Getent {
            database: &DATABASES[database],
            entries: entries(&DATABASES[database], text),
            field,
            key: Box::default(),
        };
        let find = |getent: &Getent, key: &str| {
            getent.find(Args::of(key.as_bytes(), &[key.len() as u32])).map(str::to_owned)
        };
        let known = getent(2, None, services);
        for (key, expected) in
            [("ssh", Some("22")), ("53", Some("domain")), ("nameserver", Some("53")), ("x", None), ("", None)]
        {
            assert_eq!(find(&known, key).as_deref(), expected, "{key}");
        }
        let groups = "root:x:0:\nadm:x:4:syslog,me\n";
        assert_eq!(find(&getent(1, Some(3), groups), "adm").as_deref(), Some("syslog,me"));
        assert_eq!(find(&getent(1, Some(3), groups), "4").as_deref(), Some("syslog,me"));
        assert_eq!(find(&getent(1, None, groups), "root").as_deref(), Some("0"));
    }
}
