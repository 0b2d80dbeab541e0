//! Fuzzes the rows in which messages wait for a database: what is written comes back.
#![no_main]

driver::fuzz_target!(|input: &[u8]| sql_client::row::read_anything(input));
