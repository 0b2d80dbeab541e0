//! Tests of the whole: a template, a message, the text.
