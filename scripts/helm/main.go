// Renders the chart with many combinations of values, as `helm template` does, and decodes what comes out strictly
// against the types of Kubernetes. The configurations in it are written to a folder, for `penstock check`.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Each of these is one choice; every combination of them is rendered.
var choices = [][]string{
	{"agent: {enabled: false}", "agent: {podMetadata: false, sandbox: if-possible, linkedFolders: [/var/log/pods], podLabels: {a: b}, nodeSelector: {kubernetes.io/os: linux}}",
		"agent: {priorityClassName: high, extraEnv: [{name: A, value: b}], extraVolumes: [{name: siem, secret: {secretName: siem}}], extraVolumeMounts: [{name: siem, mountPath: /run/secrets/siem, readOnly: true}], affinity: {nodeAffinity: {}}, extraConfig: \"source s_more { internal(); };\"}"},
	{"aggregator: {enabled: false}",
		"aggregator: {replicas: 3, destination: \"network(\\\"siem.example.com\\\" port(514) disk-buffer(reliable(yes) capacity-bytes(10GiB)));\"}",
		"aggregator: {persistence: {enabled: false}, service: {type: LoadBalancer, externalTrafficPolicy: Local, loadBalancerSourceRanges: [10.0.0.0/8], annotations: {a: b}}}",
		"aggregator: {autoscaling: {enabled: true, targetWaitingEvents: \"1000\"}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
		"aggregator: {autoscaling: {enabled: true, targetCPUUtilizationPercentage: 0, targetWaitingEvents: \"5\"}, podDisruptionBudget: {enabled: false}, persistence: {storageClassName: fast}}"},
	{"networkPolicy: {enabled: false}",
		"networkPolicy: {enabled: true, from: [{ipBlock: {cidr: 10.0.0.0/8}}], consoleFrom: [{namespaceSelector: {}}], egress: [{ports: [{port: 514}]}], agentEgress: [{ports: [{port: 6514}]}]}"},
	{"serviceMonitor: {enabled: false}", "serviceMonitor: {enabled: true, labels: {release: prometheus}}"},
	{"console: {existingSecret: mine, degradedIsReady: false}", "console: {port: 9999}"},
	{"serviceAccount: {create: false}, rbac: {create: false}", "{serviceAccount: {annotations: {a: b}}, imagePullSecrets: [{name: x}], fullnameOverride: logs, image: {tag: \"1\"}}"},
}

// What a manifest is decoded into, by its kind.
func empty(kind string) any {
	switch kind {
	case "v1/ConfigMap":
		return &corev1.ConfigMap{}
	case "v1/Secret":
		return &corev1.Secret{}
	case "v1/Service":
		return &corev1.Service{}
	case "v1/ServiceAccount":
		return &corev1.ServiceAccount{}
	case "apps/v1/DaemonSet":
		return &appsv1.DaemonSet{}
	case "apps/v1/StatefulSet":
		return &appsv1.StatefulSet{}
	case "autoscaling/v2/HorizontalPodAutoscaler":
		return &autoscalingv2.HorizontalPodAutoscaler{}
	case "networking.k8s.io/v1/NetworkPolicy":
		return &networkingv1.NetworkPolicy{}
	case "policy/v1/PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "rbac.authorization.k8s.io/v1/ClusterRole":
		return &rbacv1.ClusterRole{}
	case "rbac.authorization.k8s.io/v1/ClusterRoleBinding":
		return &rbacv1.ClusterRoleBinding{}
	case monitoring.GroupName + "/v1/ServiceMonitor":
		return &monitoringv1.ServiceMonitor{}
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: helm CHART FOLDER")
	}
	for _, message := range lint.All(os.Args[1], nil, "default", false).Messages {
		if message.Severity >= support.WarningSev {
			log.Fatalf("lint: %s", message)
		}
	}
	loaded, err := loader.Load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	rights(loaded)
	rendered, manifests, configurations := 0, map[string]int{}, map[string]bool{}
	for _, values := range combinations(choices) {
		for kind, count := range render(loaded, values, configurations) {
			manifests[kind] += count
		}
		rendered++
	}
	refused(loaded, "aggregator: {autoscaling: {enabled: true, targetCPUUtilizationPercentage: 0}}")
	write(configurations, os.Args[2])
	kinds := make([]string, 0, len(manifests))
	for kind := range manifests {
		kinds = append(kinds, fmt.Sprintf("%s=%d", kind, manifests[kind]))
	}
	sort.Strings(kinds)
	fmt.Printf("rendered %d combinations: %s\n", rendered, strings.Join(kinds, " "))
}

func combinations(choices [][]string) []string {
	if len(choices) == 0 {
		return []string{""}
	}
	var all []string
	for _, choice := range choices[0] {
		text := strings.TrimSuffix(strings.TrimPrefix(choice, "{"), "}")
		if !strings.HasPrefix(choice, "{") {
			text = choice
		}
		for _, rest := range combinations(choices[1:]) {
			all = append(all, text+", "+rest)
		}
	}
	return all
}

func manifestsOf(loaded *chart.Chart, values string) (map[string]string, error) {
	given, err := chartutil.ReadValues([]byte("{" + values + "}"))
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "rel", Namespace: "logs", IsInstall: true}
	all, err := chartutil.ToRenderValues(loaded, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(loaded, all)
}

func refused(loaded *chart.Chart, values string) {
	if _, err := manifestsOf(loaded, values); err == nil {
		log.Fatalf("these values are taken: %s", values)
	}
}

// Who may see pods: the agent's account while it asks for them, and nobody else.
func rights(loaded *chart.Chart) {
	for _, asks := range []bool{true, false} {
		values := fmt.Sprintf("agent: {podMetadata: %v}, networkPolicy: {enabled: true, agentEgress: [{ports: [{port: 1}]}]}", asks)
		files, err := manifestsOf(loaded, values)
		if err != nil {
			log.Fatalf("%s: %v", values, err)
		}
		var agent appsv1.DaemonSet
		var bound rbacv1.ClusterRoleBinding
		var role rbacv1.ClusterRole
		accounts, ports := map[string]bool{}, map[string]bool{}
		for file, text := range files {
			if !strings.HasSuffix(file, ".yaml") {
				continue
			}
			for _, manifest := range releaseutil.SplitManifests(text) {
				var account corev1.ServiceAccount
				var policy networkingv1.NetworkPolicy
				into := map[string]any{"DaemonSet": &agent, "ClusterRoleBinding": &bound, "ClusterRole": &role, "ServiceAccount": &account, "NetworkPolicy": &policy}
				for kind, object := range into {
					if strings.Contains(manifest, "\nkind: "+kind+"\n") {
						if err := yaml.Unmarshal([]byte(manifest), object); err != nil {
							log.Fatal(err)
						}
					}
				}
				accounts[account.Name] = true
				if strings.HasSuffix(policy.Name, "-agent") {
					for _, rule := range policy.Spec.Egress {
						for _, port := range rule.Ports {
							ports[port.Port.String()] = true
						}
					}
				}
			}
		}
		name := agent.Spec.Template.Spec.ServiceAccountName
		if mounted := *agent.Spec.Template.Spec.AutomountServiceAccountToken; mounted != asks || !accounts[name] || ports["6443"] != asks || !ports["rltp"] {
			log.Fatalf("%s: account %q of %v, mounted %v, ports %v", values, name, accounts, mounted, ports)
		}
		if asks && (len(bound.Subjects) != 1 || bound.Subjects[0].Name != name || bound.Subjects[0].Namespace != "logs" || bound.RoleRef.Name != role.Name) || !asks && bound.Name != "" {
			log.Fatalf("%s: the rights are not the agent's: %+v", values, bound)
		}
		if asks && fmt.Sprint(role.Rules[0].Resources, role.Rules[0].Verbs, len(role.Rules)) != "[pods] [get list watch] 1" {
			log.Fatalf("%s: other rights than to see pods: %+v", values, role.Rules)
		}
	}
}

// How many manifests of each kind there are.
func render(loaded *chart.Chart, values string, configurations map[string]bool) map[string]int {
	files, err := manifestsOf(loaded, values)
	if err != nil {
		log.Fatalf("%s: %v", values, err)
	}
	kinds, names := map[string]int{}, map[string]bool{}
	for file, text := range files {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for _, manifest := range releaseutil.SplitManifests(text) {
			var head struct {
				APIVersion string `json:"apiVersion"`
				Kind       string `json:"kind"`
				Metadata   struct {
					Name string `json:"name"`
				} `json:"metadata"`
			}
			if err := yaml.Unmarshal([]byte(manifest), &head); err != nil {
				log.Fatalf("%s: %v\n%s", file, err, manifest)
			}
			kind := head.APIVersion + "/" + head.Kind
			object := empty(kind)
			if object == nil {
				log.Fatalf("%s: a manifest of kind %q:\n%s", file, kind, manifest)
			}
			// A field that the type does not have, or has twice, is an error.
			if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
				log.Fatalf("%s with %s: %v\n%s", file, values, err, manifest)
			}
			if name := kind + " " + head.Metadata.Name; head.Metadata.Name == "" || names[name] {
				log.Fatalf("%s with %s: the name %q is missing or there twice", file, values, name)
			} else {
				names[name] = true
			}
			kinds[head.Kind]++
			look(file, values, object, configurations)
		}
	}
	return kinds
}

// What the types cannot say.
func look(file, values string, object any, configurations map[string]bool) {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		configurations[object.Data["penstock.conf"]] = true
	case *appsv1.DaemonSet:
		pod(file, values, object.Spec.Template, object.Spec.Selector.MatchLabels, nil)
	case *appsv1.StatefulSet:
		pod(file, values, object.Spec.Template, object.Spec.Selector.MatchLabels, object.Spec.VolumeClaimTemplates)
	}
}

func pod(file, values string, template corev1.PodTemplateSpec, selected map[string]string, claims []corev1.PersistentVolumeClaim) {
	wrong := func(text string) { log.Fatalf("%s with %s: %s", file, values, text) }
	for label, value := range selected {
		if template.Labels[label] != value {
			wrong("the pod has not the label " + label)
		}
	}
	volumes := map[string]bool{}
	for _, volume := range template.Spec.Volumes {
		volumes[volume.Name] = true
	}
	for _, claim := range claims {
		volumes[claim.Name] = true
	}
	ports := map[string]bool{}
	for _, container := range template.Spec.Containers {
		for _, mount := range container.VolumeMounts {
			if !volumes[mount.Name] {
				wrong("there is no volume " + mount.Name)
			}
		}
		for _, port := range container.Ports {
			ports[port.Name] = true
		}
		for _, probe := range []*corev1.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
			if probe == nil || !ports[probe.HTTPGet.Port.String()] || probe.HTTPGet.Scheme != corev1.URISchemeHTTPS {
				wrong("a probe does not ask the console")
			}
		}
		if limits := container.SecurityContext; limits == nil || !*limits.ReadOnlyRootFilesystem || *limits.AllowPrivilegeEscalation {
			wrong("the container may more than it needs")
		}
	}
}

func write(configurations map[string]bool, folder string) {
	texts := make([]string, 0, len(configurations))
	for text := range configurations {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	for number, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.conf", number)), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
