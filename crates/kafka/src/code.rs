//! Error codes of brokers, and what follows from each for what was sent.

pub const COORDINATOR_NOT_AVAILABLE: i16 = 15;
/// No topic can have this name, or only the cluster writes to it.
pub const INVALID_TOPIC: i16 = 17;
pub const NOT_COORDINATOR: i16 = 16;
/// An offset is about to be committed by a transaction.
pub const UNSTABLE_COMMIT: i16 = 88;
/// Of a transaction: its producer has another epoch now.
const INVALID_PRODUCER_EPOCH: i16 = 47;
/// Of a transaction: another producer has its id.
const PRODUCER_FENCED: i16 = 90;

/// Whether a producer was shut out.
pub fn is_fencing(code: i16) -> bool {
    matches!(code, INVALID_PRODUCER_EPOCH | PRODUCER_FENCED)
}

/// What to do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Fine,
    /// The broker has it already.
    Doubled,
    /// Again, once the cluster was asked who leads the partition now.
    Moved,
    /// Again, after a while.
    Busy,
    /// Numbers are not in step: again, in order; if that was in order, under a new number.
    OutOfOrder,
    /// The broker knows nothing of the producer any more: again, under a new number.
    Stranger,
    TooLarge,
    /// Something in the batch will never be taken.
    Bad,
    /// Nothing moves until somebody has done something: a right, a setting.
    Hold,
}

/// The broker's name for a code.
pub fn name(code: i16) -> &'static str {
    usize::try_from(code).ok().and_then(|at| NAMES.get(at)).copied().unwrap_or("an error of the server")
}

pub fn class(code: i16) -> Class {
    match code {
        0 => Class::Fine,
        46 => Class::Doubled,
        3 | 5 | 6 | 9 | 56 | 74 | 75 | 100 => Class::Moved,
        45 => Class::OutOfOrder,
        47 | 48 | 49 | 59 | 90 | 120 => Class::Stranger,
        10 | 18 => Class::TooLarge,
        2 | 32 | 43 | 87 => Class::Bad,
        17 | 21 | 29 | 31 | 33 | 34 | 35 | 42 | 44 | 53 | 54 | 58 | 65 | 76 => Class::Hold,
        _ => Class::Busy,
    }
}

const NAMES: &[&str] = &[
    "NONE",
    "OFFSET_OUT_OF_RANGE",
    "CORRUPT_MESSAGE",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "INVALID_FETCH_SIZE",
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_OR_FOLLOWER",
    "REQUEST_TIMED_OUT",
    "BROKER_NOT_AVAILABLE",
    "REPLICA_NOT_AVAILABLE",
    "MESSAGE_TOO_LARGE",
    "STALE_CONTROLLER_EPOCH",
    "OFFSET_METADATA_TOO_LARGE",
    "NETWORK_EXCEPTION",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "INVALID_TOPIC_EXCEPTION",
    "RECORD_LIST_TOO_LARGE",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "INVALID_REQUIRED_ACKS",
    "ILLEGAL_GENERATION",
    "INCONSISTENT_GROUP_PROTOCOL",
    "INVALID_GROUP_ID",
    "UNKNOWN_MEMBER_ID",
    "INVALID_SESSION_TIMEOUT",
    "REBALANCE_IN_PROGRESS",
    "INVALID_COMMIT_OFFSET_SIZE",
    "TOPIC_AUTHORIZATION_FAILED",
    "GROUP_AUTHORIZATION_FAILED",
    "CLUSTER_AUTHORIZATION_FAILED",
    "INVALID_TIMESTAMP",
    "UNSUPPORTED_SASL_MECHANISM",
    "ILLEGAL_SASL_STATE",
    "UNSUPPORTED_VERSION",
    "TOPIC_ALREADY_EXISTS",
    "INVALID_PARTITIONS",
    "INVALID_REPLICATION_FACTOR",
    "INVALID_REPLICA_ASSIGNMENT",
    "INVALID_CONFIG",
    "NOT_CONTROLLER",
    "INVALID_REQUEST",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT",
    "POLICY_VIOLATION",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "DUPLICATE_SEQUENCE_NUMBER",
    "INVALID_PRODUCER_EPOCH",
    "INVALID_TXN_STATE",
    "INVALID_PRODUCER_ID_MAPPING",
    "INVALID_TRANSACTION_TIMEOUT",
    "CONCURRENT_TRANSACTIONS",
    "TRANSACTION_COORDINATOR_FENCED",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "SECURITY_DISABLED",
    "OPERATION_NOT_ATTEMPTED",
    "KAFKA_STORAGE_ERROR",
    "LOG_DIR_NOT_FOUND",
    "SASL_AUTHENTICATION_FAILED",
    "UNKNOWN_PRODUCER_ID",
    "REASSIGNMENT_IN_PROGRESS",
    "DELEGATION_TOKEN_AUTH_DISABLED",
    "DELEGATION_TOKEN_NOT_FOUND",
    "DELEGATION_TOKEN_OWNER_MISMATCH",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
    "DELEGATION_TOKEN_EXPIRED",
    "INVALID_PRINCIPAL_TYPE",
    "NON_EMPTY_GROUP",
    "GROUP_ID_NOT_FOUND",
    "FETCH_SESSION_ID_NOT_FOUND",
    "INVALID_FETCH_SESSION_EPOCH",
    "LISTENER_NOT_FOUND",
    "TOPIC_DELETION_DISABLED",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "UNSUPPORTED_COMPRESSION_TYPE",
    "STALE_BROKER_EPOCH",
    "OFFSET_NOT_AVAILABLE",
    "MEMBER_ID_REQUIRED",
    "PREFERRED_LEADER_NOT_AVAILABLE",
    "GROUP_MAX_SIZE_REACHED",
    "FENCED_INSTANCE_ID",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    "ELECTION_NOT_NEEDED",
    "NO_REASSIGNMENT_IN_PROGRESS",
    "GROUP_SUBSCRIBED_TO_TOPIC",
    "INVALID_RECORD",
    "UNSTABLE_OFFSET_COMMIT",
    "THROTTLING_QUOTA_EXCEEDED",
    "PRODUCER_FENCED",
    "RESOURCE_NOT_FOUND",
    "DUPLICATE_RESOURCE",
    "UNACCEPTABLE_CREDENTIAL",
    "INCONSISTENT_VOTER_SET",
    "INVALID_UPDATE_VERSION",
    "FEATURE_UPDATE_FAILED",
    "PRINCIPAL_DESERIALIZATION_FAILURE",
    "SNAPSHOT_NOT_FOUND",
    "POSITION_OUT_OF_RANGE",
    "UNKNOWN_TOPIC_ID",
    "DUPLICATE_BROKER_REGISTRATION",
    "BROKER_ID_NOT_REGISTERED",
    "INCONSISTENT_TOPIC_ID",
    "INCONSISTENT_CLUSTER_ID",
    "TRANSACTIONAL_ID_NOT_FOUND",
    "FETCH_SESSION_TOPIC_ID_ERROR",
    "INELIGIBLE_REPLICA",
    "NEW_LEADER_ELECTED",
    "OFFSET_MOVED_TO_TIERED_STORAGE",
    "FENCED_MEMBER_EPOCH",
    "UNRELEASED_INSTANCE_ID",
    "UNSUPPORTED_ASSIGNOR",
    "STALE_MEMBER_EPOCH",
    "MISMATCHED_ENDPOINT_TYPE",
    "UNSUPPORTED_ENDPOINT_TYPE",
    "UNKNOWN_CONTROLLER_ID",
    "UNKNOWN_SUBSCRIPTION_ID",
    "TELEMETRY_TOO_LARGE",
    "INVALID_REGISTRATION",
    "TRANSACTION_ABORTABLE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_names_and_classes() {
        for (code, expected, of) in [
            (6, "NOT_LEADER_OR_FOLLOWER", Class::Moved),
            (10, "MESSAGE_TOO_LARGE", Class::TooLarge),
            (29, "TOPIC_AUTHORIZATION_FAILED", Class::Hold),
            (45, "OUT_OF_ORDER_SEQUENCE_NUMBER", Class::OutOfOrder),
            (59, "UNKNOWN_PRODUCER_ID", Class::Stranger),
            (76, "UNSUPPORTED_COMPRESSION_TYPE", Class::Hold),
            (87, "INVALID_RECORD", Class::Bad),
            (90, "PRODUCER_FENCED", Class::Stranger),
            (110, "FENCED_MEMBER_EPOCH", Class::Busy),
            (120, "TRANSACTION_ABORTABLE", Class::Stranger),
            (19, "NOT_ENOUGH_REPLICAS", Class::Busy),
        ] {
            assert_eq!((name(code), class(code)), (expected, of));
        }
        assert_eq!((name(-1), name(999)), ("an error of the server", "an error of the server"));
    }
}
