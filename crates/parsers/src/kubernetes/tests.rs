use super::*;
use crate::testing::{batch, context, values};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Knows one pod, from some moment on.
#[derive(Default)]
struct One {
    pod: Mutex<Option<Arc<Pod>>>,
    asked: AtomicUsize,
    counted: Mutex<(u64, u64)>,
    waiting: Mutex<Vec<pods::Wake>>,
}

impl Pods for One {
    fn find(&self, wanted: &Wanted<'_>) -> PodState {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match &*self.pod.lock() {
            Some(pod) if *pod.name == *wanted.pod => PodState::Known(Arc::clone(pod)),
            Some(_) => PodState::Absent,
            None => PodState::NotYet,
        }
    }

    fn when_known(&self, _: &Wanted<'_>, wake: pods::Wake) {
        self.waiting.lock().push(wake);
    }

    fn count(&self, with: u64, without: u64) {
        let mut counted = self.counted.lock();
        *counted = (counted.0 + with, counted.1 + without);
    }
}

fn pod() -> Arc<Pod> {
    let pair = |key: &str, value: &str| (key.into(), value.into());
    Arc::new(Pod {
        namespace: "shop".into(),
        name: "web-0".into(),
        uid: "uid-1".into(),
        labels: vec![pair("app", "web"), pair("app.kubernetes.io/name", "shop")],
        annotations: vec![pair("note", "")],
        containers: vec![Container {
            name: "app".into(),
            image: "r/app:1".into(),
            hash: "r/app@sha256:0".into(),
            id: "".into(),
        }],
    })
}

fn parser(one: &Arc<One>, delimiter: &str) -> KubernetesPods {
    KubernetesPods {
        input: Input::message(),
        pods: Some(Arc::clone(one) as Arc<dyn Pods>),
        names: Names::all(".k8s."),
        delimiter: delimiter.into(),
        wait: Duration::from_secs(5),
        asker: new_asker(),
    }
}

fn file(pod: &str) -> String {
    format!("/var/log/containers/{pod}_shop_app-{ID}.log")
}

#[test]
fn all_messages_of_a_file_get_what_is_known_with_one_question() {
    let one = Arc::new(One::default());
    *one.pod.lock() = Some(pod());
    let (web, other) = (file("web-0"), file("web-1"));
    let messages: [&[u8]; 5] =
        [web.as_bytes(), web.as_bytes(), other.as_bytes(), b"/var/log/messages", web.as_bytes()];
    let mut cx = context();
    let made = parser(&one, ".");
    for turn in 1..=2 {
        let mut batch = batch(&messages);
        let mut selection = vec![0, 1, 2, 3, 4];
        made.parse(&mut batch, &mut selection, &mut cx);
        let expected = format!(
            ".k8s.annotations.note=|.k8s.container_hash=r/app@sha256:0|.k8s.container_image=r/app:1|.k8s.docker_id={ID}|\
             .k8s.labels.app.kubernetes.io/name=shop|.k8s.labels.app=web|.k8s.pod_uuid=uid-1"
        );
        for at in [0, 1, 4] {
            assert_eq!(values(&batch, at), expected, "{at}");
        }
        assert_eq!((values(&batch, 2), values(&batch, 3)), (String::new(), String::new()));
        assert_eq!(selection, [0, 1, 2, 3, 4], "a message without passes");
        assert_eq!(one.asked.load(Ordering::SeqCst), 3 * turn, "once for messages of one file");
    }
    assert_eq!(*one.counted.lock(), (6, 2));
}

#[test]
fn what_nothing_reads_is_neither_set_nor_asked_for() {
    let one = Arc::new(One::default());
    *one.pod.lock() = Some(pod());
    let all = parser(&one, "~");
    let mut demand = Demand::default();
    demand.name(record::intern(".k8s.labels~app").expect("room"));
    let web = file("web-0");
    let run = |parser: &dyn Parse| {
        let mut batch = batch(&[web.as_bytes()]);
        parser.parse(&mut batch, &mut vec![0], &mut context());
        values(&batch, 0)
    };
    assert_eq!(run(&*all.narrowed(&demand).expect("narrowed")), ".k8s.labels~app=web");
    let asked = one.asked.load(Ordering::SeqCst);
    // Others make these, whatever they begin with.
    let mut of_others = Demand::default();
    for name in [".k8s.pod_name", ".k8s.labels.app", "labels~app"] {
        of_others.name(record::intern(name).expect("room"));
    }
    for demand in [Demand::default(), of_others] {
        let nothing = all.narrowed(&demand).expect("narrowed");
        assert!(run(&*nothing).is_empty() && nothing.gate().is_none());
    }
    assert_eq!(one.asked.load(Ordering::SeqCst), asked);
}

#[test]
fn a_file_waits_for_its_pod_and_no_longer_than_it_may() {
    let one = Arc::new(One::default());
    let made = KubernetesPods { input: Input::of(&template("${FILE_NAME}")), ..parser(&one, ".") };
    assert!(parser(&one, ".").gate().is_none(), "messages that say themselves whose they are do not wait");
    let gate = made.gate().expect("a gate");
    let woken = Arc::new(AtomicUsize::new(0));
    let wake = || -> pods::Wake {
        let woken = Arc::clone(&woken);
        Box::new(move || {
            woken.fetch_add(1, Ordering::SeqCst);
        })
    };
    let web = file("web-0");
    assert!(gate.is_open(b"/var/log/messages", None, &wake));
    assert!(!gate.is_open(web.as_bytes(), None, &wake));
    assert!(!gate.is_open(web.as_bytes(), Some(Duration::from_secs(4)), &wake));
    assert_eq!(one.waiting.lock().len(), 1, "it waits once");
    assert!(gate.is_open(web.as_bytes(), Some(Duration::from_secs(5)), &wake));
    *one.pod.lock() = Some(pod());
    one.waiting.lock().drain(..).for_each(|wake| wake());
    assert_eq!(woken.load(Ordering::SeqCst), 1);
    assert!(gate.is_open(web.as_bytes(), Some(Duration::from_secs(1)), &wake));
    assert!(gate.is_open(file("web-1").as_bytes(), None, &wake), "of one that is not there nobody waits");
}

fn template(text: &str) -> Arc<template::Template> {
    let made = template::Template::compile(text, &template::TemplateOptions::default(), &template::NoScope);
    Arc::new(made.unwrap_or_else(|error| panic!("{text}: {error}")))
}
