"""Settings every test runs under."""

from __future__ import annotations

import os

# Before anything imports transformers: no test may reach for the network.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Settings of a server must not reach the tests; what the tests themselves read stays.
_KEPT = ("SYNTAGMA_CACHE_DIR", "SYNTAGMA_TOKENIZERS", "SYNTAGMA_ORACLE_TRIPLES")
for _name in [name for name in os.environ if name.startswith("SYNTAGMA_") and name not in _KEPT]:
    del os.environ[_name]
