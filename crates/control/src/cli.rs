//! Every command line of the program.
