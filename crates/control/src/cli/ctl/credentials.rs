//! The passphrase of a key on its way from a person to the program: from the command line, the terminal or
//! standard input.

use std::io::{BufRead, IsTerminal, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use stdio::CommandError;

/// The request that gives a passphrase.
pub fn request(
    id: Option<String>,
    secret: Option<String>,
    words: Vec<String>,
) -> Result<String, CommandError> {
    let mut words = words.into_iter();
    let id = id.or_else(|| words.next()).ok_or("whose passphrase? Name the key's file with --id")?;
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(format!("`{id}`: the path of a key with a passphrase must not have blanks in it").into());
    }
    let secret = match secret.or_else(|| words.next()) {
        Some(secret) => secret,
        None => asked(&id).map_err(|error| format!("cannot read the passphrase: {error}"))?,
    };
    if secret.is_empty() || secret.contains('\n') {
        return Err("a passphrase is one line, and not empty".into());
    }
    Ok(format!("PWD add {id} {secret}"))
}

/// A line of standard input; a terminal does not show it.
fn asked(id: &str) -> std::io::Result<String> {
    let input = std::io::stdin();
    let hidden = match input.is_terminal() {
        false => None,
        true => {
            stdio::err_text!("Passphrase of {id}: ");
            std::io::stderr().flush()?;
            let shown = tcgetattr(&input)?;
            let mut modes = shown.clone();
            modes.local_modes.remove(LocalModes::ECHO);
            tcsetattr(&input, OptionalActions::Flush, &modes)?;
            Some(shown)
        }
    };
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    if let Some(shown) = hidden {
        tcsetattr(&input, OptionalActions::Flush, &shown)?;
        stdio::err!("");
    }
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
