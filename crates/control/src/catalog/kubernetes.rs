//! Pods that are known, and messages of them.

use super::{Labels, metric};
use crate::counters::Counter;

/// A server that is asked for pods.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pods<'a> {
    pub server: &'a str,
    /// Messages whose pod was known, and was not.
    pub known: u64,
    pub unknown: u64,
    pub events: u64,
    pub lists: u64,
    pub failed: u64,
    pub pods: u64,
    pub bytes: u64,
    pub left_out: u64,
}

pub fn kubernetes(of: &Pods<'_>) -> Vec<Counter> {
    let server = |more: Option<(&'static str, String)>| -> Labels {
        [("server", of.server.to_owned())].into_iter().chain(more).collect()
    };
    let messages = |pod: &'static str, value| {
        let labels = server(Some(("pod", pod.to_owned())));
        Counter::new("kubernetes", of.server, "", pod, value).with_prom("kubernetes_messages_total", labels)
    };
    let one = |name: &'static str, value| metric(0, name, server(None), value);
    vec![
        messages("known", of.known),
        messages("unknown", of.unknown),
        one("kubernetes_watch_events_total", of.events),
        one("kubernetes_lists_total", of.lists),
        one("kubernetes_failed_requests_total", of.failed),
        one("kubernetes_pods", of.pods),
        one("kubernetes_pods_bytes", of.bytes),
        one("kubernetes_pods_left_out_total", of.left_out),
    ]
}
