//! Headers that somebody makes for each request, beside those of the configuration.

use crate::exchange::Whole;
use crate::plan::Plan;
use flight::Outcome;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;

/// Makes headers, and hears how requests were answered. It is asked on a thread where it may take its time.
pub trait Extra: Send + Sync {
    /// Headers, `Name: value` each, for a request with this body and these headers. The error is what becomes
    /// of its messages: nothing is sent.
    fn headers(&self, body: &[u8], headers: &[String]) -> Result<Vec<String>, Outcome>;

    /// A server has answered with this status.
    fn answered(&self, status: u16);
}

/// Adds what all of them make; each sees what those before it have added.
pub async fn add(
    plan: &Arc<Plan>,
    body: Whole,
    mut headers: HeaderMap,
) -> Result<(Whole, HeaderMap), Outcome> {
    if plan.extras.is_empty() {
        return Ok((body, headers));
    }
    let plan = Arc::clone(plan);
    let asked = tokio::task::spawn_blocking(move || {
        let body = body.joined();
        for extra in &plan.extras {
            for line in extra.headers(&body, &lines(&headers))? {
                let (name, value) = read(&line).map_err(Outcome::Hold)?;
                match plan.base.contains_key(&name) {
                    true => headers.insert(name, value).is_some(),
                    false => headers.append(name, value),
                };
            }
        }
        Ok((Whole::new(body), headers))
    });
    asked.await.unwrap_or_else(|error| Err(Outcome::Away(format!("nobody makes its headers: {error}"))))
}

/// Tells all of them how a request was answered.
pub async fn answered(plan: &Arc<Plan>, status: u16) {
    if plan.extras.is_empty() {
        return;
    }
    let plan = Arc::clone(plan);
    let told =
        tokio::task::spawn_blocking(move || plan.extras.iter().for_each(|extra| extra.answered(status)));
    // What somebody makes of it changes nothing here.
    let _ = told.await;
}

fn lines(headers: &HeaderMap) -> Vec<String> {
    let line = |(name, value): (&HeaderName, &HeaderValue)| {
        format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
    };
    headers.iter().map(line).collect()
}

fn read(line: &str) -> Result<(HeaderName, HeaderValue), String> {
    let split = line.split_once(':').and_then(|(name, value)| {
        Some((name.trim().parse().ok()?, HeaderValue::from_str(value.trim()).ok()?))
    });
    split.ok_or_else(|| format!("`{}` is no header: write `Name: value`", line.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn lines_are_headers_or_refused() {
        let (name, value) = read("X-Count: a: b ").expect("a header");
        assert_eq!((name.as_str(), value.as_bytes()), ("x-count", &b"a: b"[..]));
        for wrong in ["", "none", ": x", "a b: c", "a: b\r\nc: d"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
