#!/usr/bin/env bash
# Answers that obey a grammar, with nothing but curl and python3 (which only writes and reads the JSON).
# Start a server (make serve), then: examples/curl.sh [BASE_URL]
# The base URL may also come from SYNTAGMA_BASE_URL; it is http://127.0.0.1:8000/v1 otherwise.
set -euo pipefail
base_url="${1:-${SYNTAGMA_BASE_URL:-http://127.0.0.1:8000/v1}}"
grammars="$(dirname "${BASH_SOURCE[0]}")/../configs/grammars"

# body GRAMMAR_FILE PROMPT STREAM
body() {
    python3 -c '
import json, sys
grammar_file, prompt, stream = sys.argv[1:]
with open(grammar_file, encoding="utf-8") as file:
    grammar = file.read()
messages = [{"role": "user", "content": prompt}]
print(json.dumps({"messages": messages, "guided_grammar": grammar, "max_tokens": 2000, "stream": stream == "true"}))
' "$@"
}

# ask GRAMMAR_FILE PROMPT STREAM
ask() {
    body "$grammars/$1" "$2" "$3" |
        curl -sS --no-buffer --fail-with-body "$base_url/chat/completions" \
            -H 'Content-Type: application/json' -d @-
}

content() {
    python3 -c 'import json, sys; print(json.load(sys.stdin)["choices"][0]["message"]["content"])'
}

echo "== Three ways to put a question, as a JSON array"
ask three_strings.ebnf "Write three ways to ask: How to delete all rows from a table?" false | content

echo "== An e-mail address"
ask email.ebnf "Invent an e-mail address for Ada Lovelace." false | content

echo "== A story in emoji, streamed as server-sent events"
ask emoji.ebnf "Tell a short story of a person and a dog in emoji only." true

echo "== An invalid grammar is refused, with line and column"
curl -sS "$base_url/chat/completions" -H 'Content-Type: application/json' -d '{
    "messages": [{"role": "user", "content": "hi"}],
    "guided_grammar": "root ::= \"a\"\n  | missing_rule",
    "stream": true
}'
echo
