//! Python blocks that are run while a configuration is read, and the calls that they define: in a process of
//! their own, which ends with the reading.

use crate::child::Child;
use crate::fault::Fault;
use crate::marshal::{self, Item, Malformed, Reader};
use crate::output::Output;
use crate::program::{Block, Script};

pub struct Generators {
    program: Script,
    child: Option<Child>,
    output: Option<Output>,
}

impl Generators {
    /// `program` is what the processes have in common; its blocks are not run.
    pub fn new(program: Script) -> Generators {
        Generators { program: Script { blocks: Vec::new(), ..program }, child: None, output: None }
    }

    /// Runs a block. All calls that blocks have defined so far: context and name of each.
    pub fn run(&mut self, block: &Block) -> Result<Vec<(String, String)>, Fault> {
        let level = i64::from(self.program.debug_level);
        let child = self.child()?;
        child.call("setup", 2, |out| {
            marshal::list(1, out);
            block.write(out);
            marshal::int(level, out);
        })?;
        let answer = child.call("generators", 0, |_| ())?;
        names_of(&answer).map_err(|Malformed| Fault::Malformed)
    }

    /// The text that a call stands for.
    pub fn generate(
        &mut self,
        context: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<String, Fault> {
        let answer = self.child()?.call("generate", 3, |out| {
            marshal::text(context, out);
            marshal::text(name, out);
            marshal::list(arguments.len(), out);
            for (name, value) in arguments {
                marshal::tuple(2, out);
                marshal::text(name, out);
                marshal::text(value, out);
            }
        })?;
        let text = Reader::new(&answer).text().map_err(|Malformed| Fault::Malformed)?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    fn child(&mut self) -> Result<&mut Child, Fault> {
        if self.child.is_none() {
            let output = Output::new().map_err(|error| Fault::CannotStart(error.to_string()))?;
            let output = self.output.insert(output);
            self.child = Some(Child::start(&self.program, &output.writer)?);
        }
        self.child.as_mut().ok_or(Fault::Malformed)
    }
}

impl Drop for Generators {
    fn drop(&mut self) {
        Child::end_all(self.child.take().into_iter().collect());
        self.output.iter().for_each(Output::catch_up);
    }
}

fn names_of(answer: &[u8]) -> Result<Vec<(String, String)>, Malformed> {
    let mut reader = Reader::new(answer);
    let count = reader.list()?;
    let text = |reader: &mut Reader<'_>| Ok(String::from_utf8_lossy(reader.text()?).into_owned());
    (0..count)
        .map(|_| match reader.item()? {
            Item::Tuple(2) => Ok((text(&mut reader)?, text(&mut reader)?)),
            _ => Err(Malformed),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_blocks_define_is_read_or_refused() {
        let mut answer = Vec::new();
        marshal::list(1, &mut answer);
        marshal::tuple(2, &mut answer);
        marshal::text("source", &mut answer);
        marshal::text("mine", &mut answer);
        assert_eq!(names_of(&answer), Ok(vec![("source".to_owned(), "mine".to_owned())]));
        (0..answer.len()).for_each(|cut| assert_eq!(names_of(&answer[..cut]), Err(Malformed), "{cut}"));
    }
}
