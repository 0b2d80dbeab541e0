//! Fuzzes what servers and clients of gRPC send: frames, details of statuses, answers and requests of
//! OpenTelemetry, what Pub/Sub brings to a subscriber.
#![no_main]

driver::fuzz_target!(|input: &[u8]| grpc::fuzz(input));
