use super::*;
use std::io::Read;

#[test]
fn words_arrive_with_their_descriptors() {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let (mut near, far) = UnixStream::pair().expect("another one");
    let body = Writer::new().number(7).text("tcp,127.0.0.1:514").bytes(b"\0half a mess").done();
    send(&ours, Kind::Hello, None, b"").expect("sent");
    send(&ours, Kind::Connection, Some(far.as_fd()), &body).expect("sent");
    drop(far);
    send(&ours, Kind::Done, None, b"x").expect("sent");
    drop(ours);
    let first = receive(&theirs).expect("a word");
    assert_eq!((first.kind, first.fd.is_none(), first.body.len()), (Kind::Hello, true, 0));
    let second = receive(&theirs).expect("a word");
    let mut fields = Reader(&second.body);
    assert_eq!((fields.number(), fields.text().as_deref()), (Some(7), Some("tcp,127.0.0.1:514")));
    assert_eq!((fields.bytes(), fields.number()), (Some(b"\0half a mess".as_slice()), None));
    (&UnixStream::from(second.fd.expect("a descriptor"))).write_all(b"through").expect("write");
    let mut text = [0; 7];
    near.read_exact(&mut text).expect("read");
    assert_eq!(&text, b"through");
    assert_eq!(receive(&theirs).expect("a word").kind, Kind::Done);
    assert_eq!(receive(&theirs).expect_err("the end").kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn what_is_no_word_is_an_error() {
    let check = |bytes: &[u8], expected: ErrorKind| {
        let (mut ours, theirs) = UnixStream::pair().expect("a pair");
        ours.write_all(bytes).expect("write");
        drop(ours);
        assert_eq!(receive(&theirs).map(drop).expect_err("no word").kind(), expected, "{bytes:?}");
    };
    check(b"FAIL unknown command 'TAKE_OVER'\n.\n", ErrorKind::InvalidData);
    check(b"PSTO", ErrorKind::UnexpectedEof);
    check(b"PSTO\x08\0\0\0\x05\0\0\0abc", ErrorKind::UnexpectedEof);
    check(b"PSTO\x08\x01\0\0\0\0\0\0", ErrorKind::InvalidData);
    check(b"PSTO\x63\0\0\0\0\0\0\0", ErrorKind::InvalidData);
    check(b"PSTO\x08\0\0\0\xff\xff\xff\xff", ErrorKind::InvalidData);
}

#[test]
fn fields_that_are_cut_off() {
    let whole = Writer::new().number(1).bytes(b"abc").text("é").done();
    for end in 0..whole.len() {
        let mut fields = Reader(&whole[..end]);
        let all = (|| Some((fields.number()?, fields.bytes()?, fields.text()?)))();
        assert_eq!(all, None, "{end}");
    }
    let mut huge = Reader(&[0xff; 12]);
    assert_eq!(huge.bytes(), None);
    let broken = Writer::new().bytes(b"\xff").done();
    assert_eq!(Reader(&broken).text(), None);
}
