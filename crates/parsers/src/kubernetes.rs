//! `kubernetes-pods()`: what the API server of Kubernetes knows of the pod whose log a message comes from.
//!
//! The parser waits for nothing: it takes what is known. Where the messages come from files, a file of a pod
//! that is not known yet is not read for a moment, see [`Gate`].

pub mod file_name;
pub mod pods;

use crate::build::Build;
use crate::input::Input;
use crate::learned::Learned;
use crate::names::{self, Names};
use crate::parse::{Gate, Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, TemplateText};
use diag::Diagnostic;
use filter::{FilterContext, new_asker};
use pods::{Container, Pod, PodState, Pods, Server, Wanted};
use record::{Batch, Demand, NameId, Span, ValueType};
use std::sync::Arc;
use std::time::Duration;

/// What `wait()` may be at most: a file that nobody knows is read after this time at the latest.
const WAIT_SECONDS_MAX: u32 = 60;

pub static KUBERNETES_PODS: Component = Component {
    context: Context::Parser,
    name: "kubernetes-pods",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[
        Opt::new("prefix", Kind::Text, Preset::Text(".k8s."), "Put in front of the name of every value."),
        Opt::new(
            "key-delimiter",
            Kind::Text,
            Preset::Text("."),
            "What stands between `labels` or `annotations` and the key, which may have dots itself: with `key-delimiter(\"~\")` it is \
             `.k8s.labels~app.kubernetes.io/name`.",
        ),
        Opt::new(
            "template",
            Kind::Template,
            Preset::Described("`${FILE_NAME}`"),
            "The name of the container's log, as `/var/log/containers` or `/var/log/pods` has it: it says which pod is meant.",
        ),
        Opt::new(
            "pod-metadata",
            Kind::Bool,
            Preset::Bool(true),
            "With `no` nobody is asked, and the parser does nothing.",
        ),
        Opt::new(
            "url",
            Kind::Text,
            Preset::Described("that of the cluster the program runs in, by KUBERNETES_SERVICE_HOST"),
            "The API server: `https://host:port`. Outside of a cluster, without it, the parser does nothing.",
        )
        .sample("\"https://127.0.0.1:6443\""),
        Opt::new(
            "token-file",
            Kind::Path,
            Preset::Described("that of the pod's service account"),
            "The file with the token shown to the API server. It is read again for every request, as tokens are replaced.",
        ),
        Opt::new(
            "ca-file",
            Kind::Path,
            Preset::Described("that of the pod's service account; with url(), whom the system trusts"),
            "The certificates of who may have signed the API server's.",
        ),
        Opt::new(
            "node-name",
            Kind::Text,
            Preset::Described("NODE_NAME of the environment"),
            "The node whose pods are followed, so that they are known before their first message. Without it each pod is asked for when \
             its first message comes.",
        ),
        Opt::new(
            "wait",
            Kind::Seconds { min: 0, max: WAIT_SECONDS_MAX },
            Preset::Int(5),
            "Seconds that a file of a pod which is not known yet is not read. Other files are, and nothing is lost; after that its messages \
             go on without, and are counted. It holds where template() is `${FILE_NAME}` and the source reads files.",
        ),
        Opt::no_effect("internal", "every named parser is counted"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Adds what the API server of Kubernetes knows of the pod: `.k8s.pod_uuid`, `.k8s.labels.KEY`, `.k8s.annotations.KEY`, and of the \
              container `.k8s.container_image`, `.k8s.container_hash` (the image by its digest) and `.k8s.docker_id`. A message of a pod \
              that is not known passes as it is. See docs/kubernetes.md for the rights it needs.",
    example: "kubernetes-pods(prefix(\".k8s.\") node-name(\"node-1\"))",
    cost: Some(Cost::elsewhere(
        "One look-up for all messages of a batch that are from one file; of a pod, values that nothing reads are not set. The API server is \
         asked in the background.",
    )),
};

#[derive(Clone)]
struct KubernetesPods {
    input: Input,
    /// `None`: there is nobody to ask, or nothing of it is read.
    pods: Option<Arc<dyn Pods>>,
    names: Names,
    delimiter: Arc<str>,
    /// Of files whose pod is not known; zero where there is no waiting.
    wait: Duration,
    asker: u64,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let text = settings.template("template").cloned().unwrap_or_else(|| TemplateText {
        type_hint: None,
        text: "${FILE_NAME}".to_owned(),
        span: b.span,
    });
    let input = b.template_or_name(&text).map(|t| Input::of(&t));
    let server = Server {
        url: settings.text("url").map(str::to_owned),
        token_file: settings.path("token-file").map(Into::into),
        ca_file: settings.path("ca-file").map(Into::into),
        node: settings.text("node-name").filter(|name| !name.is_empty()).map(str::to_owned),
    };
    let is_asked = settings.bool("pod-metadata").unwrap_or(true);
    let pods = match if is_asked { pods::open(&server) } else { Ok(None) } {
        Ok(pods) => pods,
        Err(wrong) => {
            let at = settings.span(wrong.option).unwrap_or(b.span);
            b.diags.push(Diagnostic::error("A0109", wrong.text, at).help(wrong.help));
            return None;
        }
    };
    let prefix = settings.text("prefix").unwrap_or_default();
    let delimiter = settings.text("key-delimiter").unwrap_or_default();
    let wait = settings.seconds("wait").unwrap_or_default();
    let (names, asker) = (Names::all(prefix), new_asker());
    Some(Arc::new(KubernetesPods { input: input?, pods, names, delimiter: delimiter.into(), wait, asker }))
}

/// What a worker keeps: the values of the file it met last, which stand in the batch once for all messages.
#[derive(Default)]
struct Memory {
    file: Vec<u8>,
    told: Told,
    values: Vec<(NameId, Span, ValueType)>,
    /// Of all of them, while they are made.
    text: Vec<u8>,
    key: Vec<u8>,
    learned: Learned,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Told {
    /// No file yet, or one that is no container's.
    #[default]
    Nothing,
    Unknown,
    Known,
}

impl KubernetesPods {
    /// Makes the values for messages of the file in `memory`.
    fn look_up(&self, pods: &dyn Pods, batch: &mut Batch, memory: &mut Memory) {
        memory.values.clear();
        let Some(wanted) = file_name::read(&memory.file) else {
            memory.told = Told::Nothing;
            return;
        };
        let PodState::Known(pod) = pods.find(&wanted) else {
            memory.told = Told::Unknown;
            return;
        };
        memory.told = Told::Known;
        memory.text.clear();
        let Memory { values, text, key, learned, .. } = memory;
        learned.of(batch, |_, learned| {
            let mut keep = |key: &[u8], value: &str| {
                if let Some(name) = self.names.of(key, learned) {
                    values.push((name, Span::new(text.len(), value.len()), ValueType::String));
                    text.extend_from_slice(value.as_bytes());
                }
            };
            self.each(&pod, &wanted, key, &mut keep);
        });
        let begin = batch.append(&memory.text).start;
        for (_, span, _) in &mut memory.values {
            span.start = span.start.saturating_add(begin);
        }
    }

    /// Whether a key behind the prefix may be one of [`KubernetesPods::each`].
    fn makes(&self, key: &[u8]) -> bool {
        let is_one_of = |kind: &str| {
            let rest = key.strip_prefix(kind.as_bytes());
            rest.is_some_and(|rest| rest.starts_with(self.delimiter.as_bytes()))
        };
        let fixed: [&[u8]; 4] = [b"pod_uuid", b"container_image", b"container_hash", b"docker_id"];
        fixed.contains(&key) || is_one_of("labels") || is_one_of("annotations")
    }

    /// Everything that is known, by the key behind the prefix.
    fn each(&self, pod: &Pod, wanted: &Wanted<'_>, key: &mut Vec<u8>, keep: &mut dyn FnMut(&[u8], &str)) {
        keep(b"pod_uuid", &pod.uid);
        for (kind, pairs) in [("labels", &pod.labels), ("annotations", &pod.annotations)] {
            for (name, value) in pairs {
                key.clear();
                [kind, &self.delimiter, name]
                    .into_iter()
                    .for_each(|part| key.extend_from_slice(part.as_bytes()));
                keep(key, value);
            }
        }
        let Some(container) = pod.containers.iter().find(|c| *c.name == *wanted.container) else { return };
        let Container { image, hash, id, .. } = container;
        // The file's own container may be an earlier one of this name.
        let id = wanted.id.unwrap_or(id);
        for (key, value) in [("container_image", &**image), ("container_hash", &**hash), ("docker_id", id)] {
            if !value.is_empty() {
                keep(key.as_bytes(), value);
            }
        }
    }
}

impl Parse for KubernetesPods {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let Some(pods) = self.pods.as_deref() else { return };
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        // What the last batch was told stands in that batch.
        memory.told = Told::Nothing;
        memory.file.clear();
        let (mut with, mut without) = (0, 0);
        for index in selection.iter().map(|index| *index as usize) {
            let Some(span) = self.input.span(batch, index, cx) else { continue };
            let file = batch.bytes(span);
            if memory.file != file {
                memory.file.clear();
                memory.file.extend_from_slice(file);
                self.look_up(pods, batch, &mut memory);
            }
            match memory.told {
                Told::Nothing => {}
                Told::Unknown => without += 1,
                Told::Known => {
                    with += 1;
                    batch.set_spans(index, memory.values.iter().copied());
                }
            }
        }
        cx.work.keep_state(self.asker, memory);
        if with + without > 0 {
            pods.count(with, without);
        }
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes::prefix(self.names.prefix())
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        let keys = names::wanted(self.names.prefix(), demand);
        let is_read = keys.is_none_or(|keys| keys.iter().any(|(key, _)| self.makes(key)));
        let pods = self.pods.clone().filter(|_| is_read);
        Some(Arc::new(KubernetesPods { pods, names: self.names.narrowed(demand), ..self.clone() }))
    }

    fn gate(&self) -> Option<Arc<dyn Gate>> {
        let is_file = self.input.name() == Some(NameId::FILE_NAME);
        let pods = self.pods.clone().filter(|_| is_file && !self.wait.is_zero())?;
        Some(Arc::new(Known { pods, wait: self.wait }))
    }
}

/// Files whose pod is known are read.
struct Known {
    pods: Arc<dyn Pods>,
    wait: Duration,
}

impl Gate for Known {
    fn is_open(&self, file: &[u8], waited: Option<Duration>, wake: &dyn Fn() -> pods::Wake) -> bool {
        let Some(wanted) = file_name::read(file) else { return true };
        if waited.is_some_and(|waited| waited >= self.wait) || self.pods.find(&wanted) != PodState::NotYet {
            return true;
        }
        if waited.is_none() {
            self.pods.when_known(&wanted, wake());
        }
        false
    }
}

#[cfg(test)]
mod tests;
