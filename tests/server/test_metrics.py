"""``GET /metrics`` and what is counted where."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from server.metrics import ServerMetrics
from tests.server.engine.fakes import answers, digits_grammar, request, running_engine
from tests.server.fakes import MODEL_NAME, FakeEngine
from tests.server.test_chat_completions import post


def samples(text: str) -> dict[str, float]:
    """By name and labels other than the model's."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()) if k != "model_name")
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def scrape(client: httpx.Client) -> dict[str, float]:
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return samples(response.text)


def test_gauges_follow_the_engine(client: httpx.Client, engine: FakeEngine) -> None:
    found = scrape(client)
    assert found["vllm:num_requests_running{}"] == 0
    assert found["vllm:num_requests_waiting{}"] == 0
    assert found["vllm:kv_cache_usage_perc{}"] == engine.kv_cache_usage
    assert f'model_name="{MODEL_NAME}"' in client.get("/metrics").text


def test_counters_begin_with_zero(client: httpx.Client) -> None:
    """An increase from nothing to one is none for Prometheus."""
    found = scrape(client)
    for name in (
        "syntagma:constraint_rejections_total{reason=invalid_grammar}",
        "syntagma:grammar_cache_lookups_total{result=miss}",
        "vllm:admission_rejections_total{reason=overloaded}",
        "vllm:admission_rejections_total{reason=rate_limit}",
        "vllm:request_success_total{finished_reason=length}",
    ):
        assert found[name] == 0
    assert found["process_resident_memory_bytes{}"] > 1 << 20


def test_grammars_are_counted(client: httpx.Client) -> None:
    for grammar in ('root ::= "a"', "root ::=", 'root ::= "b"'):
        post(client, guided_grammar=grammar)
    found = scrape(client)
    assert found["syntagma:grammar_cache_lookups_total{result=miss}"] == 3
    assert found["syntagma:grammar_compile_seconds_count{}"] == 3
    assert found["syntagma:grammar_cache_bytes{}"] == 200
    assert found["syntagma:constraint_rejections_total{reason=invalid_grammar}"] == 1


def test_a_compiled_grammar_is_a_hit(client: httpx.Client, compiler: object) -> None:
    compiler.finds_cached = True  # type: ignore[attr-defined]
    for _ in range(3):
        post(client, guided_grammar='root ::= "a"')
    assert scrape(client)["syntagma:grammar_cache_lookups_total{result=hit}"] == 2


def test_answers_are_counted_by_path_and_status(client: httpx.Client, engine: FakeEngine) -> None:
    post(client)
    post(client, top_k="x")
    client.get("/v1/nothing/at/all")
    engine.overloaded = True
    post(client)
    found = scrape(client)
    path = "handler=/v1/chat/completions,method=POST"
    assert found[f"http_requests_total{{{path},status=200}}"] == 1
    assert found[f"http_requests_total{{{path},status=400}}"] == 1
    assert found[f"http_requests_total{{{path},status=503}}"] == 1
    assert found["http_requests_total{handler=unknown,method=GET,status=404}"] == 1
    assert found[f"http_request_duration_seconds_count{{{path}}}"] == 3
    assert found["vllm:admission_rejections_total{reason=overloaded}"] == 1


def test_the_engine_s_work_is_counted() -> None:
    metrics = ServerMetrics("m")
    with running_engine(observer=metrics.engine) as engine:
        got = answers(engine, [request(grammar=digits_grammar(4), max_tokens=9), request(max_tokens=7)])
    tokens = sum(len(answer.token_ids) for answer in got)
    found = samples(metrics.text().decode())
    assert found["vllm:prompt_tokens_total{}"] == 2 * len("hello")
    assert found["vllm:generation_tokens_total{}"] == tokens
    assert found["vllm:time_to_first_token_seconds_count{}"] == 2
    assert found["vllm:inter_token_latency_seconds_count{}"] == tokens - 2
    assert found["vllm:e2e_request_latency_seconds_count{}"] == 2
    phases = [
        found[f"vllm:request_{name}_time_seconds_sum{{}}"] for name in ("prefill", "decode", "inference")
    ]
    assert phases[0] + phases[1] == pytest.approx(phases[2])
    waited = found["vllm:request_queue_time_seconds_sum{}"]
    assert phases[2] + waited <= found["vllm:e2e_request_latency_seconds_sum{}"]
    assert found["vllm:request_queue_time_seconds_count{}"] == 2
    assert found["vllm:request_generation_tokens_sum{}"] == tokens
    assert found["vllm:request_prompt_tokens_sum{}"] == 2 * len("hello")
    assert found["syntagma:mask_seconds_count{kind=lookup}"] == 5
    assert sum(v for k, v in found.items() if k.startswith("vllm:request_success_total")) == 2


def test_slow_masks_and_preemptions_are_counted() -> None:
    metrics = ServerMetrics("m")
    grammar = digits_grammar(4, slow_at=frozenset({1}))
    grammar.gate.set()
    with running_engine(observer=metrics.engine) as engine:
        answers(engine, [request(grammar=grammar)])
        cell = engine._runner.bytes_per_cell
    assert samples(metrics.text().decode())["syntagma:mask_seconds_count{kind=computed}"] == 1
    with running_engine(observer=metrics.engine, kv_cache_bytes=2 * 512 * cell) as engine:
        answers(engine, [request("p" * 200, max_tokens=120, ignore_eos=True, seed=i) for i in range(4)])
    assert samples(metrics.text().decode())["vllm:num_preemptions_total{}"] >= 1


@pytest.mark.parametrize("path", ["/ping", "/health"])
def test_ping(client: httpx.Client, engine: FakeEngine, path: str) -> None:
    assert client.get(path).status_code == 200
    engine.is_healthy = False
    assert client.get(path).status_code == 503
    if path == "/ping":
        assert client.post(path).status_code == 503


def test_version_and_load(client: httpx.Client, engine: FakeEngine) -> None:
    from server import __version__

    assert client.get("/version").json() == {"version": __version__}
    assert client.get("/load").json() == {"server_load": 0}
