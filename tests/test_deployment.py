"""The files for Docker, Prometheus and Grafana fit together, and speak of metrics that the server has."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from prometheus_client.parser import text_string_to_metric_families

from server.engine.observer import RequestTimes
from server.metrics import HttpMetrics, ServerMetrics
from server.settings import ServerSettings

REPOSITORY = Path(__file__).parents[1]
DOCKER = REPOSITORY / "docker"
DASHBOARD = json.loads((DOCKER / "grafana" / "dashboards" / "syntagma.json").read_text("utf-8"))
GAUGES = {
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "syntagma:grammar_cache_bytes",
    "syntagma:grammar_compiles_in_flight",
}


def read(name: str) -> Any:
    return yaml.safe_load((DOCKER / name).read_text("utf-8"))


def exported() -> set[str]:
    """The names of all samples, with one use of each metric that has labels."""
    metrics, http = ServerMetrics("m"), HttpMetrics()
    metrics.engine.ended("stop", RequestTimes(1), 1, 1)
    metrics.grammars.rejected("invalid_grammar")
    metrics.grammars.looked_up(is_hit=True)
    http.answered("GET", "/health", 200, 0.1)
    http.refused("overloaded")
    text = (metrics.text() + http.text()).decode()
    return GAUGES | {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    }


def test_the_dashboard_shows_what_the_server_exports() -> None:
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    names = {
        name for e in expressions for name in re.findall(r"(?:vllm|syntagma):\w+|(?:http|process)_\w+", e)
    }
    assert len(names) > 12
    assert names <= exported()


def test_the_dashboard_has_what_operators_look_for() -> None:
    shown = " ".join(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"])
    for name in (
        "time_to_first_token",
        "generation_tokens",
        "mask_seconds",
        "compile_seconds",
        "cache_lookups",
    ):
        assert name in shown
    for name in ("cache_bytes", "num_requests_waiting", "constraint_rejections", "admission_rejections"):
        assert name in shown


def test_panels_stand_beside_each_other() -> None:
    places = [(p["gridPos"]["x"], p["gridPos"]["y"], p["gridPos"]["w"]) for p in DASHBOARD["panels"]]
    assert places == [(12 * (n % 2), 8 * (n // 2), 12) for n in range(len(places))]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


def test_gauges_are_watched_by_the_application() -> None:
    source = (REPOSITORY / "server" / "app.py").read_text("utf-8")
    assert all(f'"{name}"' in source for name in GAUGES)


def test_panels_have_the_provisioned_source() -> None:
    [source] = read("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {source["uid"]}
    assert source["url"] == "http://prometheus:9090"


@pytest.mark.parametrize("service", ["syntagma", "prometheus", "grafana"])
def test_mounted_files_exist_and_ports_are_local(service: str) -> None:
    described = read("compose.yaml")["services"][service]
    for mount in described["volumes"]:
        source = mount.split(":")[0]
        assert not source.startswith(".") or (DOCKER / source).exists()
    assert all(port.startswith("127.0.0.1:") for port in described["ports"])


@pytest.mark.parametrize("name", ["compose.yaml", "gpu.yaml"])
def test_compose_files_obey_the_specification_s_schema(name: str) -> None:
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    Draft202012Validator(json.loads(schema.read_text("utf-8"))).validate(read(name))


def test_downloaded_models_outlive_the_container() -> None:
    dockerfile = (REPOSITORY / "Dockerfile").read_text("utf-8")
    [cache] = re.findall(r"^VOLUME (\S+)$", dockerfile, re.MULTILINE)
    for variable in ("SYNTAGMA_CACHE_DIR", "HF_HOME"):
        [directory] = re.findall(rf"\b{variable}=(\S+)", dockerfile)
        assert directory.startswith(cache)
    assert f"models:{cache}" in read("compose.yaml")["services"]["syntagma"]["volumes"]


def test_prometheus_scrapes_the_server() -> None:
    [job] = read("prometheus.yaml")["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["syntagma:8000"]}]
    assert job.get("metrics_path", "/metrics") == "/metrics"


def test_the_image_has_both_targets_and_no_root() -> None:
    stages = (REPOSITORY / "Dockerfile").read_text("utf-8").split("\nFROM ")
    final = {re.search(r"AS (\w+)", stage)[1]: stage for stage in stages[1:]}  # type: ignore[index]
    assert set(final) == {"build", "base", "cuda", "cpu"}
    assert all("\nUSER syntagma\n" in f"{final[target]}\n" for target in ("cpu", "cuda"))
    assert "HEALTHCHECK" in final["base"]


def test_environment_variables_are_settings() -> None:
    texts = (REPOSITORY / "Dockerfile").read_text("utf-8") + (DOCKER / "compose.yaml").read_text("utf-8")
    names = set(re.findall(r"\b(SYNTAGMA_[A-Z_]+)(?:=|:(?: |$))", texts, re.MULTILINE)) - {
        "SYNTAGMA_CACHE_DIR",
        "SYNTAGMA_TARGET",
    }
    assert names
    assert {name.removeprefix("SYNTAGMA_").lower() for name in names} <= set(ServerSettings.model_fields)


def test_the_documentation_lists_every_metric() -> None:
    text = (REPOSITORY / "docs" / "deployment.md").read_text("utf-8")
    samples = {name for name in exported() if not re.search(r"^process_|_created$", name)}
    names = {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in samples}
    assert {name for name in names if f"`{name}`" not in text} == set()
