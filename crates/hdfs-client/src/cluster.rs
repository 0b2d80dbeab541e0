//! The cluster as all files of a destination see it: one client, made when it is needed and made anew when it
//! no longer answers.

use crate::judge::Trouble;
use crate::plan::Plan;
use hdfs_native::client::FileStatus;
use hdfs_native::{Client, ClientBuilder, HdfsError};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// Between two looks at whether a lease has come back.
const LEASE_PAUSE: Duration = Duration::from_millis(500);
/// How many of them a batch waits for; it comes again then.
const LEASE_LOOKS: usize = 20;
/// No Hadoop reads its properties from here: they are read when the configuration is.
const NO_FOLDER: &str = "/nonexistent";

pub struct Cluster {
    pub plan: Plan,
    client: Mutex<Option<Client>>,
}

impl Cluster {
    pub fn new(plan: Plan) -> Arc<Cluster> {
        Arc::new(Cluster { plan, client: Mutex::new(None) })
    }

    /// The client. To make it says nothing about the cluster: nobody is asked yet.
    pub async fn client(&self) -> Result<Client, Trouble> {
        let mut kept = self.client.lock().await;
        if let Some(client) = &*kept {
            return Ok(client.clone());
        }
        let mut builder = ClientBuilder::new()
            .with_url(self.plan.uri.clone())
            .with_config_dir(NO_FOLDER)
            .with_config(self.plan.options.clone());
        if let Some(login) = &self.plan.login {
            builder = builder
                .with_kerberos_principal(login.principal.clone())
                .with_kerberos_keytab(format!("FILE:{}", login.keytab));
        }
        // Names may be looked up, and Kerberos be asked who one is.
        let made = tokio::task::spawn_blocking(move || builder.build()).await;
        let made = made.map_err(|error| Trouble::Said(HdfsError::InternalError(error.to_string())))?;
        let client = made.map_err(Trouble::Said)?;
        *kept = Some(client.clone());
        Ok(client)
    }

    /// An answer within the time there is. A connection on which none came is not used again.
    pub async fn ask<T>(&self, asking: impl Future<Output = hdfs_native::Result<T>>) -> Result<T, Trouble> {
        let answer = match tokio::time::timeout(self.plan.patience, asking).await {
            Ok(answer) => answer.map_err(Trouble::Said),
            Err(_) => Err(Trouble::Late),
        };
        if matches!(answer, Err(Trouble::Late)) {
            self.forget().await;
        }
        answer
    }

    /// New connections for what comes next.
    pub async fn forget(&self) {
        *self.client.lock().await = None;
    }

    pub async fn look(&self, path: &str) -> Result<Option<FileStatus>, Trouble> {
        let client = self.client().await?;
        match self.ask(client.get_file_info(path)).await {
            Ok(status) => Ok(Some(status)),
            Err(trouble) if trouble.is_missing() => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// The length of a file that nobody writes any more: whoever had it open is cut off first. `None` when it
    /// is not there.
    pub async fn settled_length(&self, path: &str) -> Result<Option<u64>, Trouble> {
        let client = self.client().await?;
        for _ in 0..LEASE_LOOKS {
            match self.ask(client.recover_lease(path)).await {
                Ok(true) => return Ok(self.look(path).await?.map(|status| status.length as u64)),
                Ok(false) => tokio::time::sleep(LEASE_PAUSE).await,
                Err(trouble) if trouble.is_missing() => return Ok(None),
                Err(trouble) if trouble.is_leased() => tokio::time::sleep(LEASE_PAUSE).await,
                Err(trouble) => return Err(trouble),
            }
        }
        let why = format!("the cluster has not given {path} back yet: a datanode that has its end is away");
        Err(Trouble::Said(HdfsError::IOError(io::Error::other(why))))
    }
}
