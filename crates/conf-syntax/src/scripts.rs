//! Python blocks that define calls: whoever reads the configuration may run them, this layer cannot.

use std::fmt;
use std::sync::Arc;

/// Runs the python blocks of one configuration while it is read.
pub trait Scripts {
    /// Whether something of the program's own may be called so in a context (`source`, `parser` ...): then no
    /// block has to be run to know what is meant.
    fn knows(&self, context: &str, name: &str) -> bool;

    /// Runs a block behind those before it. All calls that they define, context and name of each; the error
    /// is Python's traceback.
    fn run(&mut self, block: &Block) -> Result<Vec<(String, String)>, String>;

    /// The text that a call with these arguments stands for.
    fn generate(
        &mut self,
        context: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<String, String>;
}

/// `python { text };`
pub struct Block {
    pub file: String,
    /// The one its text begins in.
    pub line: u32,
    pub text: String,
}

/// Makes what runs the blocks; asked once for each configuration that needs it.
#[derive(Clone)]
pub struct NewScripts(pub Arc<dyn Fn() -> Box<dyn Scripts> + Send + Sync>);

impl fmt::Debug for NewScripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewScripts")
    }
}
