//! Filter expressions, read from the arguments they are written in.

use diag::{Diagnostics, Span};

use crate::ast::{Arg, FilterExpr};

/// The expression `args` spell, or None with the reason in `diags`; `whole` is the place to blame when it is empty.
pub fn from_args(_args: &[Arg], _whole: Span, _diags: &mut Diagnostics) -> Option<FilterExpr> {
    None
}
