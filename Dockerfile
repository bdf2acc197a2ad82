# Builds the wheel in one stage and runs it as a user without rights in the next.
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

FROM python:${PYTHON}-slim
# What to install as torch: a version, or a path or URL of a build for another kind of device.
ARG TORCH=torch
RUN useradd --create-home --uid 10001 syntagma \
    && install -d -o syntagma -g syntagma /var/cache/syntagma
RUN pip install --no-cache-dir "${TORCH}"
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
USER syntagma
WORKDIR /home/syntagma
ENV SYNTAGMA_HOST=0.0.0.0 \
    SYNTAGMA_PORT=8000 \
    SYNTAGMA_CACHE_DIR=/var/cache/syntagma \
    PYTHONUNBUFFERED=1
VOLUME /var/cache/syntagma
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=180s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"SYNTAGMA_PORT\"]}/health')"]
ENTRYPOINT ["syntagma"]
CMD ["serve"]
