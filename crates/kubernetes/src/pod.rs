//! A pod out of the JSON of the API server: of everything that is said of it, what messages want.

use parsers::kubernetes::pods::{Container, Pod};
use serde_json::Value;

/// What the digest of an image, and the id of a container, have in front of them in some runtimes:
/// `docker-pullable://`, `containerd://`.
const SCHEME: &str = "://";

/// The pod, with the version that it has; `None` when it lacks a name.
pub fn of(value: &Value) -> Option<(Pod, &str)> {
    let about = value.get("metadata")?;
    let word = |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (word("namespace"), word("name"));
    if namespace.is_empty() || name.is_empty() {
        return None;
    }
    let pod = Pod {
        namespace: namespace.into(),
        name: name.into(),
        uid: word("uid").into(),
        labels: pairs(about.get("labels")),
        annotations: pairs(about.get("annotations")),
        containers: containers(value),
    };
    Some((pod, word("resourceVersion")))
}

fn pairs(value: Option<&Value>) -> Vec<(Box<str>, Box<str>)> {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.as_str().into(), value.as_str()?.into()))).collect()
}

/// Those of the specification, with what the status knows of them.
fn containers(pod: &Value) -> Vec<Container> {
    let list = |part: &str, names: [&str; 3]| {
        let part = pod.get(part);
        let lists = names.map(|name| part.and_then(|part| part.get(name)).and_then(Value::as_array));
        lists.into_iter().flatten().flatten().collect::<Vec<_>>()
    };
    let states = list("status", ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"]);
    let container = |spec: &Value| {
        let name = text(spec, "name");
        let state = states.iter().copied().find(|state| !name.is_empty() && text(state, "name") == name);
        let known = |key: &str| state.map(|state| text(state, key)).unwrap_or_default();
        let image =
            Some(known("image")).filter(|image| !image.is_empty()).unwrap_or_else(|| text(spec, "image"));
        Container {
            name: name.into(),
            image: image.into(),
            hash: bare(known("imageID")).into(),
            id: bare(known("containerID")).into(),
        }
    };
    list("spec", ["containers", "initContainers", "ephemeralContainers"]).into_iter().map(container).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn bare(text: &str) -> &str {
    text.split_once(SCHEME).map_or(text, |(_, rest)| rest)
}

/// Bytes it takes in memory, about.
pub fn weight(pod: &Pod) -> usize {
    const EACH: usize = 64;
    let pairs =
        pod.labels.iter().chain(&pod.annotations).map(|(name, value)| EACH + name.len() + value.len());
    let containers =
        pod.containers.iter().map(|c| EACH + c.name.len() + c.image.len() + c.hash.len() + c.id.len());
    4 * EACH
        + pod.namespace.len()
        + pod.name.len()
        + pod.uid.len()
        + pairs.sum::<usize>()
        + containers.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_messages_want() {
        let value = serde_json::json!({
            "kind": "Pod",
            "metadata": {"name": "web-0", "namespace": "shop", "uid": "u", "resourceVersion": "17",
                         "labels": {"app": "web"}, "annotations": {"a/b": "c", "bad": 1}},
            "spec": {"containers": [{"name": "app", "image": "r/app"}, {"name": "late", "image": "r/late:2"}],
                     "initContainers": [{"name": "first", "image": "r/first"}]},
            "status": {"containerStatuses": [{"name": "app", "image": "docker.io/r/app:1",
                        "imageID": "docker-pullable://r/app@sha256:1", "containerID": "containerd://c1"}]}
        });
        let (pod, version) = of(&value).expect("a pod");
        assert_eq!((version, &*pod.uid, pod.annotations.len()), ("17", "u", 1));
        let shown: Vec<String> =
            pod.containers.iter().map(|c| format!("{} {} {} {}", c.name, c.image, c.hash, c.id)).collect();
        assert_eq!(shown, ["app docker.io/r/app:1 r/app@sha256:1 c1", "late r/late:2  ", "first r/first  "]);
        assert!(weight(&pod) > 100);
    }

    #[test]
    fn what_is_none() {
        for text in
            ["{}", "[]", "1", r#"{"metadata":{}}"#, r#"{"metadata":{"name":"a"}}"#, r#"{"metadata":[1]}"#]
        {
            assert_eq!(of(&serde_json::from_str(text).expect("JSON")), None, "{text}");
        }
        let bare = serde_json::json!({"metadata": {"name": "a", "namespace": "b"}, "spec": 1, "status": {"containerStatuses": 3}});
        assert_eq!(of(&bare).expect("a pod").0.containers, []);
    }
}
