//! Secrets in the URLs of a text: passwords, parameters that are keys, and paths that are.

use std::ops::Range;

/// Options and parameters that have one of these in their name have a secret for their value.
pub const SECRET_WORDS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "token",
    "secret",
    "api-key",
    "authorization",
    "credential",
    "bot-id",
    "community",
];
/// Parameters that are secrets though their names have none of the words.
const PARAMETERS: [&str; 8] = ["key", "apikey", "sig", "signature", "code", "auth", "pwd", "pass"];
/// Who knows what follows in the path may post there.
const HOOKS: [&str; 4] =
    ["hooks.slack.com/services/", "/api/webhooks/", "webhook.office.com/webhookb2/", "api.telegram.org/bot"];
/// What stands in the place of one.
pub const BLOT: &str = "***";

/// A secret in a URL.
#[derive(Clone, Debug)]
pub struct SecretInUrl {
    /// What is not to be shown.
    pub place: Range<usize>,
    /// The part of it that is the secret itself.
    pub word: Option<Range<usize>>,
}

/// All of a text, in their order.
pub fn in_urls(text: &str) -> Vec<SecretInUrl> {
    let mut found = Vec::new();
    let mut parts = text.split("://");
    let mut at = parts.next().unwrap_or_default().len();
    for part in parts {
        at += "://".len();
        let end = part.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')'));
        let url = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
        let (authority, path) = url.split_at(url.find(['/', '?']).unwrap_or(url.len()));
        found.extend(user_info(authority, at));
        let path_at = at + authority.len();
        let hook = HOOKS.iter().find_map(|hook| Some(url.find(hook)? + hook.len()));
        match hook.filter(|end| *end >= authority.len()) {
            Some(end) => found.extend(whole(url, at, end)),
            None => parameters(path, path_at, &mut found),
        }
        at += part.len();
    }
    found
}

/// The text with [`BLOT`] in the place of each.
pub fn without_secrets(text: &str) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for SecretInUrl { place, .. } in in_urls(text) {
        out.push_str(text.get(at..place.start).unwrap_or_default());
        out.push_str(BLOT);
        at = place.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// `user:password@` is not shown, the password is the secret.
fn user_info(authority: &str, at: usize) -> Option<SecretInUrl> {
    let (user, _) = authority.rsplit_once('@')?;
    let word = user.find(':').map(|colon| at + colon + 1..at + user.len());
    Some(SecretInUrl { place: at..at + user.len(), word })
}

fn parameters(path: &str, at: usize, found: &mut Vec<SecretInUrl>) {
    let Some((front, query)) = path.split_once('?') else { return };
    let mut at = at + front.len() + 1;
    for parameter in query.split('&') {
        if let Some((name, _)) = parameter.split_once('=').filter(|(name, _)| is_secret(name)) {
            found.extend(whole(parameter, at, name.len() + 1));
        }
        at += parameter.len() + 1;
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    PARAMETERS.contains(&name.as_str()) || SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// The text from `from` on, where the text stands at `at`.
fn whole(text: &str, at: usize, from: usize) -> Option<SecretInUrl> {
    let secret = text.get(from..)?;
    // What a template makes of a message is no word of the configuration.
    let is_one = !secret.is_empty() && !secret.starts_with('$');
    let place = at + from..at + text.len();
    is_one.then(|| SecretInUrl { place: place.clone(), word: Some(place) })
}

#[cfg(test)]
mod tests {
    use super::{in_urls, without_secrets};

    #[test]
    fn what_is_secret_goes_and_the_rest_stays() {
        let check = |text: &str, expected: &str, words: &[&str]| {
            let found: Vec<&str> =
                in_urls(text).iter().filter_map(|secret| text.get(secret.word.clone()?)).collect();
            let out = without_secrets(text);
            assert_eq!((out.as_str(), found.as_slice()), (expected, words));
        };
        check("no URL", "no URL", &[]);
        check("'http://h/a?b=c' x", "'http://h/a?b=c' x", &[]);
        check("\"amqp://u:p@h:1\")", "\"amqp://***@h:1\")", &["p"]);
        check("http://u@h?x=1", "http://***@h?x=1", &[]);
        check(
            "url(\"https://h/x?index=1&Access_Token=abc&sig=d%3D\" 'http://h/?key=k')",
            "url(\"https://h/x?index=1&Access_Token=***&sig=***\" 'http://h/?key=***')",
            &["abc", "d%3D", "k"],
        );
        check("http://h/?token=${X}&keyword=a", "http://h/?token=${X}&keyword=a", &[]);
        check(
            "hook-url(\"https://hooks.slack.com/services/T0/B0/x\")",
            "hook-url(\"https://hooks.slack.com/services/***\")",
            &["T0/B0/x"],
        );
        check("https://api.telegram.org/bot1:a/send", "https://api.telegram.org/bot***", &["1:a/send"]);
        check("://", "://", &[]);
        check("a://b://?token", "a://b://?token", &[]);
    }
}
