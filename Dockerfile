# The controller and the bot in one image. `.ci/image` carries these very steps out without an
# engine, and runs what they make as the user below on a root that cannot be written.
#
# The page of `poolkeeper demo` is not built here: an image for production needs no playground.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /src
COPY requirements/build.txt requirements/runtime.txt requirements/
# What builds is in an environment of its own, and stays behind with this stage.
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --require-hashes --requirement requirements/build.txt \
    && python -m venv --without-pip /opt/poolkeeper \
    && /opt/build/bin/pip --python /opt/poolkeeper/bin/python install --no-cache-dir --no-compile \
        --only-binary :all: --require-hashes --requirement requirements/runtime.txt
COPY . .
# Compiled once and for all: at run time nothing can be written beside the sources.
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /opt/wheel . \
    && /opt/build/bin/pip --python /opt/poolkeeper/bin/python install --no-cache-dir --no-compile \
        --no-deps --no-index /opt/wheel/*.whl \
    && /opt/poolkeeper/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/poolkeeper/lib

FROM python:3.11.14-slim-bookworm
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Poolkeeper" \
      org.opencontainers.image.description="Keeps GPU pools fair for teams that share a self-hosted ClearML, run from Slack." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/poolkeeper /opt/poolkeeper
RUN groupadd --gid 10001 poolkeeper \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin poolkeeper \
    && install --directory --owner=10001 --group=10001 --mode=0750 /var/lib/poolkeeper
# State is in /var/lib/poolkeeper, what may be lost at any time in /tmp; nothing else is written.
ENV PATH=/opt/poolkeeper/bin:$PATH \
    HOME=/tmp \
    XDG_CACHE_HOME=/tmp \
    MPLCONFIGDIR=/tmp/matplotlib \
    CLEARML_CONFIG_FILE=/etc/poolkeeper/clearml.conf \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# By number, for Kubernetes cannot tell of a name that it is not root's.
USER 10001:10001
WORKDIR /var/lib/poolkeeper
VOLUME /var/lib/poolkeeper
ENTRYPOINT ["poolkeeper"]
CMD ["run"]
