//! The Helm chart: rendered by helm's own code in every combination of values that `scripts/helm` has,
//! decoded strictly against the types of Kubernetes, and its configurations checked by the program.

use std::process::Command;
use testkit::{Lab, root, run_command, skip};

#[test]
fn the_chart_renders_and_its_configurations_are_right() {
    let helm = root().join("target/servers/helm/helm");
    if !helm.exists() {
        return skip("helm is not built: scripts/servers helm");
    }
    let lab = Lab::new();
    std::fs::create_dir(lab.path("rendered")).expect("a folder");
    let chart = root().join("packaging/helm/penstock");
    let rendered = Command::new(helm).arg(chart).arg(lab.path("rendered")).output().expect("helm runs");
    let (said, complaints) = (&rendered.stdout, &rendered.stderr);
    assert!(rendered.status.success(), "{}", String::from_utf8_lossy(complaints));
    let said = String::from_utf8_lossy(said).into_owned();
    for kind in [
        "DaemonSet",
        "StatefulSet",
        "PodDisruptionBudget",
        "NetworkPolicy",
        "ServiceMonitor",
        "HorizontalPodAutoscaler",
        "ClusterRoleBinding",
    ] {
        assert!(said.contains(&format!(" {kind}=")), "{kind}: {said}");
    }
    // What is mounted in a pod.
    let keys = lab.path("keys").display().to_string();
    assert_eq!(run_command(&["test-ca", &keys]).code, Some(0));
    std::fs::write(lab.path("keys/token"), "0123456789abcdef0123456789abcdef").expect("a token");
    for (file, mounted) in [("localhost.key", "tls.key"), ("localhost.pem", "tls.crt")] {
        std::fs::copy(lab.path(&format!("keys/{file}")), lab.path(&format!("keys/{mounted}")))
            .expect("a copy");
    }
    let mut checked = 0;
    for entry in std::fs::read_dir(lab.path("rendered")).expect("what was rendered").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a configuration");
        let text = text.replace("/run/penstock/console", &keys);
        std::fs::write(entry.path(), &text).expect("it is written");
        let outcome = run_command(&["check", &entry.path().display().to_string()]);
        assert_eq!(outcome.code, Some(0), "{}\n{text}", outcome.stderr);
        checked += 1;
    }
    assert!(checked > 10, "{checked}");
}
