//! The filter in the kernel's language: a list of allowed calls, and a few of which the arguments decide.

use std::collections::BTreeSet;

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter,
};

/// Where in `struct seccomp_data` the number, the architecture and the lower halves of three arguments are.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;
const THIRD_ARGUMENT: u32 = 32;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;

/// Namespaces: in one of its own, a process has capabilities that it does not have outside.
const NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;
/// Sockets are of these families.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// Protocols that connect as TCP does, past what Landlock says of ports. Those beyond the largest of IP's own
/// (that of MPTCP, that of SMC) are of that kind.
const AS_TCP: [u32; 2] = [libc::IPPROTO_DCCP as u32, libc::IPPROTO_SCTP as u32];
const PROTOCOL_MAX: u32 = 255;
/// To type into a terminal as if its user did.
const TYPING: [u32; 2] = [libc::TIOCSTI as u32, libc::TIOCLINUX as u32];
/// No kernel of today has calls beyond; whoever tries one expects to hear that it is not there.
const NUMBERS_MAX: u32 = 500;

/// What becomes of a call that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Whoever listens is asked.
    Asks,
    /// It fails at once.
    Fails,
}

impl Refusal {
    fn verdict(self) -> u32 {
        match self {
            Refusal::Asks => libc::SECCOMP_RET_USER_NOTIF,
            Refusal::Fails => fails_with(libc::EPERM),
        }
    }
}

fn fails_with(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

pub fn program(allowed: &BTreeSet<u32>, refusal: Refusal) -> Vec<sock_filter> {
    let refused = refusal.verdict();
    let mut code = vec![
        load(ARCHITECTURE),
        // Calls of another architecture have other numbers.
        jump(BPF_JEQ, NATIVE, 0, 1),
        ret(refused),
        load(NUMBER),
    ];
    // Skips over the return where the condition does not hold.
    code.extend([jump(BPF_JGT, NUMBERS_MAX, 1, 0), ret(fails_with(libc::ENOSYS))]);
    // Its flags are out of reach: libraries use clone() where it is not there.
    code.extend([jump(BPF_JEQ, libc::SYS_clone3 as u32, 1, 0), ret(fails_with(libc::ENOSYS))]);
    code.extend([
        jump(BPF_JEQ, libc::SYS_clone as u32, 4, 0),
        load(FIRST_ARGUMENT),
        jump(BPF_JSET, NAMESPACES, 1, 0),
        ret(refused),
        ret(libc::SECCOMP_RET_ALLOW),
    ]);
    let protocols = 3 + AS_TCP.len() as u8 * 2;
    code.extend([
        jump(BPF_JEQ, libc::SYS_socket as u32, protocols + 2 + FAMILIES.len() as u8 * 2, 0),
        load(THIRD_ARGUMENT),
        jump(BPF_JGT, PROTOCOL_MAX, 1, 0),
        ret(fails_with(libc::EPROTONOSUPPORT)),
    ]);
    for protocol in AS_TCP {
        code.extend([jump(BPF_JEQ, protocol, 1, 0), ret(fails_with(libc::EPROTONOSUPPORT))]);
    }
    code.push(load(FIRST_ARGUMENT));
    for family in FAMILIES {
        code.extend([jump(BPF_JEQ, family as u32, 1, 0), ret(libc::SECCOMP_RET_ALLOW)]);
    }
    code.push(ret(refused));
    code.extend([
        jump(BPF_JEQ, libc::SYS_ioctl as u32, 2 + TYPING.len() as u8 * 2, 0),
        load(SECOND_ARGUMENT),
    ]);
    for request in TYPING {
        code.extend([jump(BPF_JEQ, request, 1, 0), ret(refused)]);
    }
    code.push(ret(libc::SECCOMP_RET_ALLOW));
    for (first, last) in ranges(allowed) {
        code.extend([
            jump(BPF_JGE, first, 0, 1),
            ret(refused),
            jump(BPF_JGT, last, 0, 1),
            ret(libc::SECCOMP_RET_ALLOW),
        ]);
    }
    code.push(ret(refused));
    code
}

/// Keeps from answering for the listener, which may let a refused call go on: for every thread but its own.
pub fn nobody_answers() -> [sock_filter; 6] {
    [
        load(NUMBER),
        jump(BPF_JEQ, libc::SYS_ioctl as u32, 3, 0),
        load(SECOND_ARGUMENT),
        jump(BPF_JEQ, libc::SECCOMP_IOCTL_NOTIF_SEND as u32, 1, 0),
        ret(fails_with(libc::EPERM)),
        ret(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Numbers that follow one another, as first and last.
fn ranges(numbers: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    ranges
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

/// Skips `no` of what follows where the condition does not hold, `yes` of it where it does.
fn jump(condition: u32, value: u32, no: u8, yes: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | condition | BPF_K) as u16, jt: yes, jf: no, k: value }
}

fn ret(verdict: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: verdict }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

    /// What the kernel would make of a call.
    fn run(code: &[sock_filter], architecture: u32, number: i64, arguments: [u32; 3]) -> u32 {
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let sock_filter { code: op, jt, jf, k } = code[at];
            at += 1;
            let op = u32::from(op);
            if op == BPF_RET | BPF_K {
                return k;
            }
            if op == BPF_LD | BPF_W | BPF_ABS {
                value = match k {
                    NUMBER => number as u32,
                    ARCHITECTURE => architecture,
                    FIRST_ARGUMENT => arguments[0],
                    SECOND_ARGUMENT => arguments[1],
                    THIRD_ARGUMENT => arguments[2],
                    other => panic!("{other} is loaded"),
                };
                continue;
            }
            let holds = match op & 0xf0 {
                BPF_JEQ => value == k,
                BPF_JGE => value >= k,
                BPF_JGT => value > k,
                BPF_JSET => value & k != 0,
                other => panic!("{other} is no jump"),
            };
            at += usize::from(if holds { jt } else { jf });
        }
    }

    #[test]
    fn calls_are_allowed_by_number_and_some_by_argument() {
        let allowed = crate::calls::names::allowed(false);
        let code = program(&allowed, Refusal::Fails);
        let refused = fails_with(libc::EPERM);
        let check = |number: i64, [first, second]: [u32; 2], expected: u32| {
            let arguments = [first, second, 0];
            assert_eq!(run(&code, NATIVE, number, arguments), expected, "{number} {arguments:?}");
        };
        for number in 0..=i64::from(NUMBERS_MAX) {
            if [libc::SYS_clone, libc::SYS_clone3, libc::SYS_socket, libc::SYS_ioctl].contains(&number) {
                continue;
            }
            let is_listed = allowed.contains(&(number as u32));
            check(number, [0, 0], if is_listed { ALLOWED } else { refused });
        }
        check(libc::SYS_clone3, [0, 0], fails_with(libc::ENOSYS));
        check(i64::from(NUMBERS_MAX) + 1, [0, 0], fails_with(libc::ENOSYS));
        check(libc::SYS_clone, [libc::CLONE_VM as u32, 0], ALLOWED);
        check(libc::SYS_clone, [libc::CLONE_NEWUSER as u32, 0], refused);
        check(libc::SYS_socket, [libc::AF_INET as u32, 0], ALLOWED);
        check(libc::SYS_socket, [libc::AF_NETLINK as u32, 0], ALLOWED);
        check(libc::SYS_socket, [libc::AF_PACKET as u32, 0], refused);
        let sockets =
            |protocol: i32| run(&code, NATIVE, libc::SYS_socket, [libc::AF_INET as u32, 0, protocol as u32]);
        for protocol in [libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_RAW] {
            assert_eq!(sockets(protocol), ALLOWED, "{protocol}");
        }
        for protocol in [libc::IPPROTO_MPTCP, libc::IPPROTO_SCTP, libc::IPPROTO_DCCP, 256] {
            assert_eq!(sockets(protocol), fails_with(libc::EPROTONOSUPPORT), "{protocol}");
        }
        check(libc::SYS_ioctl, [0, libc::TCGETS as u32], ALLOWED);
        check(libc::SYS_ioctl, [0, libc::TIOCSTI as u32], refused);
        assert_eq!(run(&code, 0x4000_0003, 1, [0, 0, 0]), refused);
        assert!(code.len() < 4096, "{}", code.len());
    }

    #[test]
    fn only_the_listener_answers() {
        let verdict = |number, request| run(&nobody_answers(), NATIVE, number, [0, request, 0]);
        let send = libc::SECCOMP_IOCTL_NOTIF_SEND as u32;
        assert_eq!(verdict(libc::SYS_ioctl, send), fails_with(libc::EPERM));
        assert_eq!(verdict(libc::SYS_ioctl, libc::TCGETS as u32), ALLOWED);
        assert_eq!(verdict(libc::SYS_write, send), ALLOWED);
    }
}
