//! A connection to a mail server: what is said, and what is answered.

use crate::reply::{self, Reply};
use diag::Fault;
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
    pub async fn hear(&mut self) -> Result<Reply, Fault> {
        loop {
            match reply::read(&self.heard) {
                Ok(Some((reply, taken))) => {
                    self.heard.drain(..taken);
                    return Ok(reply);
                }
                Ok(None) => {}
                Err(reply::Malformed) => return Err(Fault::peer("what it says is no reply of SMTP")),
            }
            let stream = self.stream.as_mut().ok_or_else(ended)?;
            match timeout(self.patience, stream.read_buf(&mut self.heard)).await {
                Ok(Ok(0)) => return Err(Fault::peer("the server has closed the connection")),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(broken(error)),
                Err(_) => return Err(Fault::unreachable("the server does not answer")),
            }
        }
    }

    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let stream = self.stream.as_mut().ok_or_else(ended)?;
        let sent = timeout(self.patience, async {
            stream.write_all(bytes).await?;
            stream.flush().await
        });
        match sent.await {
            Ok(sent) => sent.map_err(broken),
            Err(_) => Err(Fault::unreachable("the server takes nothing")),
        }
    }

    /// Says a line, and hears the answer.
    pub async fn ask(&mut self, line: &str) -> Result<Reply, Fault> {
        self.send(format!("{line}\r\n").as_bytes()).await?;
        self.hear().await
    }

    /// Begins TLS on the connection as it is. What was said before that was not asked for is forgotten: it
    /// could be somebody else's.
    pub async fn secure(&mut self, host: &str, connector: &tls::Connector) -> Result<(), Fault> {
        self.heard.clear();
        let Some(Stream::Plain(stream)) = self.stream.take() else {
            return Err(Fault::bug("it is encrypted already"));
        };
        let begun = timeout(self.patience, guest::net::secure(stream, host, connector)).await;
        self.stream = Some(begun.map_err(|_| Fault::unreachable("no answer to the TLS handshake"))??);
        Ok(())
    }

    /// Says good-bye without waiting for an answer.
    pub async fn leave(mut self) {
        let _ = self.send(b"QUIT\r\n").await;
    }
}

fn broken(error: std::io::Error) -> Fault {
    Fault::of_connection(&error, error.to_string())
}

/// A failed handshake has taken it.
fn ended() -> Fault {
    Fault::peer("the connection has ended")
}
