//! The class that makes headers of HTTP requests: one object for all workers of a destination, in a process
//! of its own.

use crate::fault::Fault;
use crate::instance::Instance;
use crate::marshal::{self, Malformed, Reader};
use crate::post::Post;
use std::sync::Arc;

pub struct Headers(Post);

impl Headers {
    pub fn new(instance: Arc<Instance>) -> Headers {
        Headers(Post::new(instance))
    }

    pub fn class(&self) -> &str {
        self.0.class()
    }

    /// Starts the process and makes the object, unless they are there.
    pub fn begin(&self) -> Result<(), Fault> {
        self.0.begin()
    }

    /// What `get_headers()` makes for a request with this body and these headers, `Name: value` each.
    pub fn make(&self, body: &[u8], headers: &[String]) -> Result<Vec<String>, Fault> {
        let answer = self.0.call("headers", 2, |out| {
            marshal::bytes(body, out);
            marshal::list(headers.len(), out);
            headers.iter().for_each(|header| marshal::text(header, out));
        })?;
        lines_of(&answer).map_err(|Malformed| Fault::Malformed)
    }

    /// Tells the class what a request was answered with.
    pub fn answered(&self, status: u16) -> Result<(), Fault> {
        self.0.call("answered", 1, |out| marshal::int(i64::from(status), out)).map(drop)
    }
}

fn lines_of(answer: &[u8]) -> Result<Vec<String>, Malformed> {
    let mut reader = Reader::new(answer);
    let count = reader.list()?;
    (0..count).map(|_| Ok(String::from_utf8_lossy(reader.text()?).into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_class_answers_is_read_or_refused() {
        let mut answer = Vec::new();
        marshal::list(2, &mut answer);
        marshal::text("A: b", &mut answer);
        marshal::bytes(b"C: d", &mut answer);
        assert_eq!(lines_of(&answer), Ok(vec!["A: b".to_owned(), "C: d".to_owned()]));
        (0..answer.len()).for_each(|cut| assert_eq!(lines_of(&answer[..cut]), Err(Malformed), "{cut}"));
        let mut wrong = Vec::new();
        marshal::int(1, &mut wrong);
        assert_eq!(lines_of(&wrong), Err(Malformed));
    }
}
