//! What the name of a container's log says: `/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log`, where ID
//! has 64 digits, or `/var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log`.

use super::pods::Wanted;

/// Of names of pods, namespaces and containers: RFC 1123, and a subdomain at most.
const NAME_BYTES_MAX: usize = 253;
const ID_DIGITS: usize = 64;

/// The container a file name names. Only names that Kubernetes could have given are taken: they become part
/// of the path of a request.
pub fn read(path: &[u8]) -> Option<Wanted<'_>> {
    let path = std::str::from_utf8(path).ok()?;
    let mut parts = path.rsplit('/');
    let (file, folder, above) = (parts.next()?, parts.next(), parts.next());
    let wanted = in_containers(file).or_else(|| in_pods(folder?, above?))?;
    let names = [wanted.namespace, wanted.pod, wanted.container];
    names.into_iter().all(is_name).then_some(wanted)
}

fn in_containers(file: &str) -> Option<Wanted<'_>> {
    let stem = file.strip_suffix(".log")?;
    let mut parts = stem.splitn(3, '_');
    let (pod, namespace, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (container, id) = rest.rsplit_once('-')?;
    let is_id = id.len() == ID_DIGITS && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    is_id.then_some(Wanted { namespace, pod, container, uid: None, id: Some(id) })
}

fn in_pods<'a>(container: &'a str, folder: &'a str) -> Option<Wanted<'a>> {
    let mut parts = folder.splitn(3, '_');
    let (namespace, pod, uid) = (parts.next()?, parts.next()?, parts.next()?);
    // Of a static pod the folder has a hash that the API server does not know.
    let is_uid = uid.len() == 36 && uid.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    Some(Wanted { namespace, pod, container, uid: is_uid.then_some(uid), id: None })
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name.bytes().all(plain)
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        let told = read(path.as_bytes()).map(|w| {
            let (uid, id) = (w.uid.unwrap_or("-"), w.id.map_or("-", |id| &id[..4]));
            format!("{} {} {} {uid} {id}", w.namespace, w.pod, w.container)
        });
        assert_eq!(told.unwrap_or_else(|| "none".to_owned()), expected, "{path}");
    }

    #[test]
    fn both_forms() {
        let id = "0123456789abcdef".repeat(4);
        check(&format!("/var/log/containers/web-0_shop_app-{id}.log"), "shop web-0 app - 0123");
        check(&format!("x_y_a-b-{id}.log"), "y x a-b - 0123");
        check(
            &format!("/a/etcd-n1.example.com_kube-system_etcd-{id}.log"),
            "kube-system etcd-n1.example.com etcd - 0123",
        );
        let uid = "b6e0c2ce-8f1d-4a57-9d07-0d2c0a5f3c11";
        check(&format!("/var/log/pods/shop_web-0_{uid}/app/0.log"), &format!("shop web-0 app {uid} -"));
        check("/var/log/pods/kube-system_etcd-n1_4f3b/etcd/1.log.20261130", "kube-system etcd-n1 etcd - -");
    }

    #[test]
    fn what_kubernetes_could_not_have_named() {
        let id = "0123456789abcdef".repeat(4);
        check(&format!("/var/log/containers/..%2f_shop_app-{id}.log"), "none");
        check(&format!("/var/log/containers/a?b=c_shop_app-{id}.log"), "none");
        check(&format!("/var/log/containers/._shop_app-{id}.log"), "none");
        check("/var/log/containers/a_b_c-123.log", "none");
        check("/var/log/messages", "none");
        check("", "none");
        check("/var/log/pods/_b_c/d/0.log", "none");
        assert_eq!(read(b"/var/log/pods/a_b_\xff/c/0.log"), None);
    }
}
