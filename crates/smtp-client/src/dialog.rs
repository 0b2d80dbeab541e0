//! A connection to a mail server: what is said, and what is answered.

use crate::reply::{self, Reply};
use guest::net::Stream;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

pub struct Dialog {
    /// `None` while TLS begins.
    stream: Option<Stream>,
    heard: Vec<u8>,
    /// How long an answer may take.
    patience: Duration,
}

impl Dialog {
    pub fn new(stream: Stream, patience: Duration) -> Dialog {
        Dialog { stream: Some(stream), heard: Vec::new(), patience }
    }

    /// The error says how the connection ended.
    pub async fn hear(&mut self) -> Result<Reply, String> {
        loop {
            match reply::read(&self.heard) {
                Ok(Some((reply, taken))) => {
                    self.heard.drain(..taken);
                    return Ok(reply);
                }
                Ok(None) => {}
                Err(reply::Malformed) => return Err("what it says is no reply of SMTP".to_owned()),
            }
            let stream = self.stream.as_mut().ok_or("the connection has ended")?;
            match timeout(self.patience, stream.read_buf(&mut self.heard)).await {
                Ok(Ok(0)) => return Err("the server has closed the connection".to_owned()),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => return Err("the server does not answer".to_owned()),
            }
        }
    }

    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let stream = self.stream.as_mut().ok_or("the connection has ended")?;
        let sent = timeout(self.patience, async {
            stream.write_all(bytes).await?;
            stream.flush().await
        });
        match sent.await {
            Ok(sent) => sent.map_err(|error| error.to_string()),
            Err(_) => Err("the server takes nothing".to_owned()),
        }
    }

    /// Says a line, and hears the answer.
    pub async fn ask(&mut self, line: &str) -> Result<Reply, String> {
        self.send(format!("{line}\r\n").as_bytes()).await?;
        self.hear().await
    }

    /// Begins TLS on the connection as it is. What was said before that was not asked for is forgotten: it
    /// could be somebody else's.
    pub async fn secure(&mut self, host: &str, connector: &tls::Connector) -> Result<(), String> {
        self.heard.clear();
        let Some(Stream::Plain(stream)) = self.stream.take() else {
            return Err("it is encrypted already".to_owned());
        };
        let begun = timeout(self.patience, guest::net::secure(stream, host, connector)).await;
        self.stream = Some(begun.map_err(|_| "no answer to the TLS handshake".to_owned())??);
        Ok(())
    }

    /// Says good-bye without waiting for an answer.
    pub async fn leave(mut self) {
        let _ = self.send(b"QUIT\r\n").await;
    }
}
