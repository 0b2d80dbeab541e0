//! The exchange of SASL's GSSAPI, RFC 4752 section 3.1: the context is established, and then it is agreed
//! that what follows is neither signed nor sealed.

use crate::context::Context;
use crate::{Error, Service, Whom};

/// The bit of "no security layer", RFC 4752 section 3.3.
const NO_LAYER: u8 = 1;

/// A login under way.
pub struct Exchange {
    context: Context,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Establishing,
    /// The server says next what it offers.
    Established,
    Agreed,
}

/// A login that has begun, and its first words.
pub struct Begun {
    pub exchange: Exchange,
    pub words: Vec<u8>,
}

impl Exchange {
    /// Waits for the servers of the realm.
    pub fn begin(service: &Service, whom: &Whom) -> Result<Begun, Error> {
        let mut context = Context::new(service, whom)?;
        let (words, is_complete) = context.step(&[])?;
        Ok(Begun { exchange: Exchange { context, state: after(is_complete) }, words })
    }

    /// The answer to what the server says; `None` when all is said.
    pub fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        match self.state {
            State::Establishing => {
                let (words, is_complete) = self.context.step(said)?;
                self.state = after(is_complete);
                Ok(Some(words))
            }
            State::Established => {
                let offer = self.context.unwrap(said)?;
                self.state = State::Agreed;
                self.context.wrap(&agreed(&offer)?).map(Some)
            }
            State::Agreed => Ok(None),
        }
    }
}

fn after(is_complete: bool) -> State {
    if is_complete { State::Established } else { State::Establishing }
}

/// What is agreed to: a byte of layers, three for the largest sealed buffer, and nobody else's name.
fn agreed(offer: &[u8]) -> Result<[u8; 4], Error> {
    match offer {
        [layers, _, _, _] if layers & NO_LAYER != 0 => Ok([NO_LAYER, 0, 0, 0]),
        [_, _, _, _] => {
            Err(Error::Protocol("the server wants what follows signed or sealed, which is not done"))
        }
        _ => Err(Error::Protocol("the server offers no security layers as RFC 4752 has them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_layer_is_agreed_to_where_it_is_offered() {
        assert_eq!(agreed(&[7, 0, 255, 255]), Ok([1, 0, 0, 0]));
        assert_eq!(agreed(&[1, 0, 0, 0]), Ok([1, 0, 0, 0]));
        assert!(matches!(agreed(&[6, 0, 255, 255]), Err(Error::Protocol(_))));
        assert!(matches!(agreed(&[1, 0, 0]), Err(Error::Protocol(_))));
        assert!(matches!(agreed(&[]), Err(Error::Protocol(_))));
    }
}
