# Two images of one program, run as a user without rights:
#   docker build --target cpu -t syntagma:cpu .
#   docker build --target cuda -t syntagma:cuda .
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY grammar_core grammar_core
COPY models models
COPY server server
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim AS base
RUN useradd --create-home --uid 10001 syntagma \
    && install -d -o syntagma -g syntagma /var/cache/syntagma
ENV SYNTAGMA_HOST=0.0.0.0 \
    SYNTAGMA_PORT=8000 \
    SYNTAGMA_CACHE_DIR=/var/cache/syntagma \
    HF_HOME=/var/cache/syntagma/huggingface \
    PYTHONUNBUFFERED=1
WORKDIR /home/syntagma
VOLUME /var/cache/syntagma
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=180s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"SYNTAGMA_PORT\"]}/health')"]

# PyTorch's wheels on PyPI carry the CUDA libraries; the host's container runtime brings the driver.
FROM base AS cuda
ARG TORCH=torch
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "${TORCH}" \
    && pip install --no-cache-dir "$(ls /wheels/*.whl)[tracing]"
USER syntagma
ENTRYPOINT ["syntagma"]
CMD ["serve"]

# The last target is what is built without --target.
FROM base AS cpu
ARG TORCH=torch
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --index-url "${TORCH_INDEX}" "${TORCH}" \
    && pip install --no-cache-dir "$(ls /wheels/*.whl)[tracing]"
USER syntagma
ENTRYPOINT ["syntagma"]
CMD ["serve"]
