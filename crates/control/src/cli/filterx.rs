//! The command line of `penstock filterx`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock filterx
  penstock filterx -e '7 / 2.0' -e 'strptime(\"2026-11-24\", \"%Y-%m-%d\")'
  penstock filterx --message 'user=root tty=pts/0' -e 'parse_kv($MSG).user'
  penstock filterx --message '<13>Nov 24 10:00:00 web su: hello' --set score=5 -e '$PROGRAM + $score' --json
  echo 'keys(json($MSG));' | penstock filterx --message '{\"a\": 1, \"b\": 2}'

Without -e it is a prompt, or takes what standard input says, a line at a time: one whose brackets are open goes on in the next.
Variables and what is set of the message stay for what follows. Without --message the message is that of the manual's examples.
Nothing is received or sent. What it prints as JSON is described in docs/filterx.md.
Exit code: 0 everything had a value; 1 something failed, or was no FilterX; 2 wrong usage.")]
pub struct FilterxArgs {
    /// An expression, or the statements of a block; may be repeated
    #[arg(short = 'e', long = "expression", value_name = "TEXT", allow_hyphen_values = true)]
    pub expressions: Vec<String>,
    /// The message: with a priority in front as it comes in, else its MESSAGE alone
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub message: Option<String>,
    /// Set a value of the message to a string; may be repeated
    #[arg(short = 's', long = "set", value_name = "NAME=VALUE", value_parser = pair)]
    pub values: Vec<(String, String)>,
    /// Print JSON, one object in a line for each text
    #[arg(long)]
    pub json: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}
