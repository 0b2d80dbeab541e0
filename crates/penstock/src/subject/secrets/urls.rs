//! Secrets in the URLs of a text: passwords, parameters that are keys, and paths that are.

use super::WORDS;

/// Parameters that are secrets though their names have none of the words.
const PARAMETERS: [&str; 8] = ["key", "apikey", "sig", "signature", "code", "auth", "pwd", "pass"];
/// Who knows what follows in the path may post there.
const HOOKS: [&str; 4] =
    ["hooks.slack.com/services/", "/api/webhooks/", "webhook.office.com/webhookb2/", "api.telegram.org/bot"];
const BLOT: &str = "***";

/// The text without them, and what was taken out.
pub(super) fn blotted(text: &str) -> (String, Vec<String>) {
    let mut parts = text.split("://");
    let (mut out, mut found) = (parts.next().unwrap_or_default().to_owned(), Vec::new());
    for part in parts {
        let end = part.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')'));
        let (url, rest) = part.split_at(end.unwrap_or(part.len()));
        out.push_str("://");
        let (authority, path) = url.split_at(url.find(['/', '?']).unwrap_or(url.len()));
        user_info(authority, &mut out, &mut found);
        let hook = HOOKS.iter().find_map(|hook| Some(url.find(hook)? + hook.len()));
        match hook.and_then(|at| path.split_at_checked(at.checked_sub(authority.len())?)) {
            Some((known, secret)) => {
                out.push_str(known);
                take(secret, &mut out, &mut found);
            }
            None => parameters(path, &mut out, &mut found),
        }
        out.push_str(rest);
    }
    (out, found)
}

/// `user:password@` is taken out, the password is a secret.
fn user_info(authority: &str, out: &mut String, found: &mut Vec<String>) {
    let Some((user, host)) = authority.rsplit_once('@') else { return out.push_str(authority) };
    found.extend(user.split_once(':').map(|(_, password)| password.to_owned()));
    out.push_str(BLOT);
    out.push('@');
    out.push_str(host);
}

fn parameters(path: &str, out: &mut String, found: &mut Vec<String>) {
    let Some((path, query)) = path.split_once('?') else { return out.push_str(path) };
    out.push_str(path);
    for (number, parameter) in query.split('&').enumerate() {
        out.push(if number == 0 { '?' } else { '&' });
        match parameter.split_once('=').filter(|(name, _)| is_secret(name)) {
            Some((name, value)) => {
                out.push_str(name);
                out.push('=');
                take(value, out, found);
            }
            None => out.push_str(parameter),
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    PARAMETERS.contains(&name.as_str()) || WORDS.iter().any(|word| name.contains(word))
}

fn take(secret: &str, out: &mut String, found: &mut Vec<String>) {
    // What a template makes of a message is no word of the configuration.
    if secret.is_empty() || secret.starts_with('$') {
        return out.push_str(secret);
    }
    out.push_str(BLOT);
    found.push(secret.to_owned());
}

#[cfg(test)]
mod tests {
    use super::blotted;

    #[test]
    fn what_is_secret_goes_and_the_rest_stays() {
        let check = |text: &str, expected: &str, words: &[&str]| {
            let (out, found) = blotted(text);
            assert_eq!((out.as_str(), found), (expected, words.iter().map(|w| (*w).to_owned()).collect()));
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
