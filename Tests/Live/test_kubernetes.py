"""The files of Scripts/deploy/kubernetes: each by the schemas of Kubernetes' releases, the configuration by the
program, and what one file says of another."""
import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from harness.proxy import DEPLOY
from harness.server import REPOSITORY, run_throng

KUBERNETES = DEPLOY / "kubernetes"
PAGE = REPOSITORY / "Sources/ThrongServer/Documentation.docc/Operations.md"
# The oldest in which each kind that the files use is there as they use it, and the newest that the validator knows.
RELEASES = ["1.27", "1.34", kubernetes_validate.latest_version()]


def kustomization():
    return yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())


def resources():
    """All documents, by their kind and name."""
    files = [*kustomization()["resources"], "secret.yaml"]
    documents = [document for file in files for document in yaml.safe_load_all((KUBERNETES / file).read_text())]
    named = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    assert len(named) == len(documents)
    return named


def pod():
    return resources()["Deployment", "throng"]["spec"]["template"]


def container():
    (only,) = pod()["spec"]["containers"]
    return only


def test_every_file_is_used():
    listed = {*kustomization()["resources"], *kustomization()["configMapGenerator"][0]["files"], "secret.yaml", "kustomization.yaml"}
    assert {file.name for file in KUBERNETES.iterdir()} == listed


@pytest.mark.parametrize("release", RELEASES)
def test_kubernetes_understands_every_object(release):
    for (kind, name), document in resources().items():
        if document["apiVersion"].startswith("monitoring.coreos.com/"):
            continue
        kubernetes_validate.validate(document, release, strict=True)
    broken = resources()["PodDisruptionBudget", "throng"]
    broken["spec"]["maxUnavailible"] = broken["spec"].pop("maxUnavailable")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, release, strict=True)


def test_the_monitor_finds_the_service_and_the_job_is_that_of_the_alerts():
    monitor, service = resources()["ServiceMonitor", "throng"], resources()["Service", "throng-nodes"]
    assert set(monitor["spec"]) == {"jobLabel", "selector", "endpoints"}
    labels = service["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    # Not the one for clients, by which each node would be scraped twice.
    assert not monitor["spec"]["selector"]["matchLabels"].items() <= resources()["Service", "throng"]["metadata"]["labels"].items()
    assert labels[monitor["spec"]["jobLabel"]] == "throng" and 'job="throng"' in (DEPLOY / "alerts.yaml").read_text()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert set(endpoint) == {"port", "path", "interval"} and endpoint["path"] == "/metrics"
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}


def test_kustomize_knows_every_word():
    """No package of PyPI has its schema; these are its words for what the file does."""
    made = kustomization()
    assert (made["apiVersion"], made["kind"]) == ("kustomize.config.k8s.io/v1beta1", "Kustomization")
    assert set(made) == {"apiVersion", "kind", "resources", "configMapGenerator", "images"}
    assert [set(generator) for generator in made["configMapGenerator"]] == [{"name", "files"}]
    assert [set(image) for image in made["images"]] == [{"name", "newName", "newTag"}]


def test_everything_selects_the_pods():
    labels = pod()["metadata"]["labels"]
    found = resources()
    selectors = [
        found["Deployment", "throng"]["spec"]["selector"]["matchLabels"], found["Service", "throng"]["spec"]["selector"],
        found["Service", "throng-nodes"]["spec"]["selector"], found["PodDisruptionBudget", "throng"]["spec"]["selector"]["matchLabels"],
        found["NetworkPolicy", "throng"]["spec"]["podSelector"]["matchLabels"],
        *(each["labelSelector"]["matchLabels"] for each in pod()["spec"]["topologySpreadConstraints"])]
    assert all(selector and selector.items() <= labels.items() for selector in selectors)
    assert found["Service", "throng-nodes"]["spec"]["clusterIP"] == "None"


def test_ports_are_those_of_the_configuration():
    configuration = yaml.safe_load((KUBERNETES / "throng.yaml").read_text())
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert configuration["listen"] == f"0.0.0.0:{ports['public']}" and configuration["internalListen"] == f"0.0.0.0:{ports['internal']}"
    for name in ("throng", "throng-nodes"):
        for port in resources()["Service", name]["spec"]["ports"]:
            assert port["port"] == ports[port["targetPort"]]


def test_the_internal_listener_is_open_to_nobody_else():
    spec = resources()["NetworkPolicy", "throng"]["spec"]
    assert spec["policyTypes"] == ["Ingress"]
    rules = {rule["ports"][0]["port"]: rule for rule in spec["ingress"]}
    assert set(rules) == {"public", "internal"} and all(len(rule["ports"]) == 1 for rule in spec["ingress"])
    assert "from" not in rules["public"]
    # An empty selector would be everybody.
    assert rules["internal"]["from"] and all(
        selector["matchLabels"] for peer in rules["internal"]["from"] for selector in peer.values())


def test_probes_ask_what_they_mean():
    readiness, liveness, startup = (container()[f"{kind}Probe"]["httpGet"] for kind in ("readiness", "liveness", "startup"))
    assert readiness == {"path": "/readyz", "port": "internal"}
    assert liveness == startup == {"path": "/healthz", "port": "internal"}


def checked(tmp_path, **secrets):
    """What the program says of the configuration as a pod has it, with the secrets of secret.yaml or others."""
    files = {**resources()["Secret", "throng"]["stringData"], **secrets}
    mounted = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    for name, value in files.items():
        (tmp_path / name).write_text(value + "\n")
    environment = {}
    for variable in container()["env"]:
        value = variable.get("value", "10.1.2.3")
        value = value.replace("$(POD_ADDRESS)", "10.1.2.3").replace(mounted["secrets"], str(tmp_path))
        environment[variable["name"]] = value.replace(mounted["configuration"], str(KUBERNETES))
    environment.pop("POD_ADDRESS")
    # Every file of the Secret is one that a variable names.
    named = {Path(value).name for key, value in environment.items() if key.endswith("_FILE")}
    assert named == set(files)
    return environment, run_throng("config", "check", environment=environment, cwd=tmp_path)


def test_the_configuration_is_right_and_the_placeholders_are_refused(tmp_path):
    own = {name: f"{name}-0f1e2d3c4b5a69788796a5b4c3d2e1f0" for name in ("auth-secret", "api-key", "cluster-secret")}
    environment, done = checked(tmp_path, **own)
    assert done.stdout == "ok\n", done.stderr
    shown = dict(line.split()[:2] for line in run_throng("config", "show", environment=environment, cwd=tmp_path).stdout.splitlines())
    assert shown["cluster.enabled"] == "true" and shown["cluster.address"] == "10.1.2.3:8081"
    # A pod that is told to end has the time to drain behind what preStop waits.
    (waits,) = re.findall(r"\d+", container()["lifecycle"]["preStop"]["exec"]["command"][1])
    drain = int(re.fullmatch(r"(\d+)s", shown["drain.duration"])[1])
    assert pod()["spec"]["terminationGracePeriodSeconds"] >= int(waits) + drain + 10
    for name in own:
        _, refused = checked(tmp_path, **{**own, name: resources()["Secret", "throng"]["stringData"][name]})
        assert refused.returncode == 1 and "stands on a page or in an example" in refused.stderr, name


def test_a_pod_has_no_rights_and_no_disk():
    security = container()["securityContext"]
    assert security == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert pod()["spec"]["securityContext"]["runAsNonRoot"] and pod()["spec"]["securityContext"]["runAsUser"] > 0
    volumes = {volume["name"]: volume for volume in pod()["spec"]["volumes"]}
    assert {mount["name"] for mount in container()["volumeMounts"]} == set(volumes)
    assert volumes["configuration"]["configMap"]["name"] == kustomization()["configMapGenerator"][0]["name"]
    assert volumes["secrets"]["secret"]["secretName"] == resources()["Secret", "throng"]["metadata"]["name"]
    # What is written into the root file system would fail.
    writable = [mount["mountPath"] for mount in container()["volumeMounts"] if not mount.get("readOnly")]
    assert writable == ["/var/lib/throng"]


def test_the_image_is_that_of_the_release():
    (image,) = kustomization()["images"]
    version = re.search(r"\d+\.\d+\.\d+", run_throng("version").stdout)[0]
    assert image["name"] == container()["image"] and image["newTag"] == version


def test_the_walk_of_the_page_makes_the_files_of_the_secret():
    walk = PAGE.read_text().split("### Kubernetes")[1].split("\n### ")[0]
    assert set(re.findall(r"--from-\w+=([\w-]+)=", walk)) == set(resources()["Secret", "throng"]["stringData"])
    assert "kubectl -n chat apply -k Scripts/deploy/kubernetes" in walk
