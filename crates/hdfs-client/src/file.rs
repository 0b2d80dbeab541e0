//! Files of the cluster: opened to be written, synced, closed, moved to the archive.

use crate::batch::Load;
use crate::cluster::Cluster;
use crate::judge::Trouble;
use crate::landed::Unsure;
use crate::name::{numbered, split};
use hdfs_native::file::FileWriter;
use hdfs_native::{HdfsError, WriteOptions};

/// Names that others take between the look and the making, before it is tried later.
const TRIES: u64 = 16;
/// Of the folder for the archive.
const FOLDER_MODE: u32 = 0o755;

pub struct Open {
    pub path: String,
    writer: FileWriter,
    /// Its length, as far as it is acknowledged.
    synced: u64,
}

impl Open {
    /// The file of that path, to be written on; it is made where there is none. Whoever has it open is cut
    /// off.
    pub async fn append(cluster: &Cluster, path: &str) -> Result<Open, Trouble> {
        for _ in 0..TRIES {
            let Some(status) = cluster.look(path).await? else {
                match Open::make(cluster, path).await {
                    Err(trouble) if trouble.is_taken() => continue,
                    made => return made,
                }
            };
            if status.isdir {
                return Err(Trouble::Said(HdfsError::IsADirectoryError(path.to_owned())));
            }
            let client = cluster.client().await?;
            match cluster.ask(client.append(path)).await {
                Ok(writer) => {
                    return Ok(Open { path: path.to_owned(), writer, synced: status.length as u64 });
                }
                Err(trouble) if trouble.is_leased() => drop(cluster.settled_length(path).await?),
                Err(trouble) => return Err(trouble),
            }
        }
        Err(Trouble::Said(HdfsError::OperationFailed(format!("{path} is opened by others all the time"))))
    }

    /// A new file under the first number that is free, from `from` on. Returns that number as well.
    pub async fn create(cluster: &Cluster, name: &str, from: Option<u64>) -> Result<(Open, u64), Trouble> {
        let first = match from {
            Some(from) => from,
            None => first_free(cluster, name).await?,
        };
        for number in first..first.saturating_add(TRIES) {
            let path = numbered(name, number, cluster.plan.name_bytes_max);
            match Open::make(cluster, &path).await {
                Err(trouble) if trouble.is_taken() => {}
                made => return Ok((made?, number)),
            }
        }
        Err(Trouble::Said(HdfsError::AlreadyExists(numbered(name, first, cluster.plan.name_bytes_max))))
    }

    async fn make(cluster: &Cluster, path: &str) -> Result<Open, Trouble> {
        let client = cluster.client().await?;
        let options = WriteOptions::default();
        let writer = cluster.ask(client.create(path, &options)).await?;
        oplog::verbose("File created in HDFS", &[("path", &path), ("location", &cluster.plan.name)]);
        Ok(Open { path: path.to_owned(), writer, synced: 0 })
    }

    /// Puts a batch behind what is there, but for its first bytes; it is on the disks of the cluster then.
    pub async fn put(&mut self, cluster: &Cluster, load: &Load, from: usize) -> Result<(), Trouble> {
        let rest = load.body.slice(from.min(load.body.len())..);
        let bytes = rest.len() as u64;
        let writer = &mut self.writer;
        let put = async {
            writer.write_bytes(rest).await?;
            writer.hsync().await
        };
        cluster.ask(put).await?;
        self.synced += bytes;
        Ok(())
    }

    /// Its length, as far as it is acknowledged.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// What is not known of it after a put that failed.
    pub fn cut_off(self, load: &Load, from: usize) -> Unsure {
        Unsure { path: self.path, synced: self.synced.saturating_sub(from as u64), tail: load.body.clone() }
    }

    /// Returns its path. All that was acknowledged is there, whatever becomes of this; but nobody can read
    /// the end of a file whose datanodes were restarted while it was open. The cluster closes that one.
    pub async fn close(mut self, cluster: &Cluster) -> Option<String> {
        let Err(trouble) = cluster.ask(self.writer.close()).await else { return Some(self.path) };
        if let Ok(Some(_)) = cluster.settled_length(&self.path).await {
            return Some(self.path);
        }
        let about: &[oplog::Field<'_>] = &[("path", &self.path), ("error", &trouble.words())];
        oplog::limited("hdfs-close", oplog::Level::Warning, "Cannot close a file in HDFS", about);
        None
    }
}

/// Removes a file of ours that has nothing in it.
pub async fn remove(cluster: &Cluster, path: &str) -> bool {
    match cluster.client().await {
        Ok(client) => cluster.ask(client.delete(path, false)).await.unwrap_or(false),
        Err(_) => false,
    }
}

/// Moves a closed file to the archive, where there is one.
pub async fn archive(cluster: &Cluster, path: &str) {
    let Some(folder) = &cluster.plan.archive else { return };
    let target = format!("{}/{}", folder.trim_end_matches('/'), split(path).1);
    let (text, error) = match moved(cluster, path, folder, &target).await {
        Ok(to) => {
            let about: &[oplog::Field<'_>] = &[("path", &path), ("archive", &to)];
            return oplog::verbose("File moved to the archive in HDFS", about);
        }
        Err(trouble) => ("Cannot move a file to the archive in HDFS, it stays where it is", trouble.words()),
    };
    let about: &[oplog::Field<'_>] = &[("path", &path), ("archive", folder), ("error", &error)];
    oplog::limited("hdfs-archive", oplog::Level::Error, text, about);
}

async fn moved(cluster: &Cluster, path: &str, folder: &str, target: &str) -> Result<String, Trouble> {
    let client = cluster.client().await?;
    cluster.ask(client.mkdirs(folder, FOLDER_MODE, true)).await?;
    let first = first_free(cluster, target).await?;
    let mut last = None;
    for number in first..first.saturating_add(TRIES) {
        let to = numbered(target, number, cluster.plan.name_bytes_max);
        match cluster.ask(client.rename(path, &to, false)).await {
            Ok(()) => return Ok(to),
            Err(trouble) if trouble.is_taken() => last = Some(trouble),
            Err(trouble) => return Err(trouble),
        }
    }
    Err(last.unwrap_or(Trouble::Late))
}

/// The first number whose name is not taken, where none is missing before it; looks at a few names only.
async fn first_free(cluster: &Cluster, name: &str) -> Result<u64, Trouble> {
    let is_taken = async |number| {
        let path = numbered(name, number, cluster.plan.name_bytes_max);
        Ok::<bool, Trouble>(cluster.look(&path).await?.is_some())
    };
    if !is_taken(0).await? {
        return Ok(0);
    }
    let (mut taken, mut step) = (0, 1);
    while is_taken(taken + step).await? {
        taken += step;
        step *= 2;
    }
    let mut free = taken + step;
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        match is_taken(middle).await? {
            true => taken = middle,
            false => free = middle,
        }
    }
    Ok(free)
}
