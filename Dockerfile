# The controller and the bot in one image; its state is in /var/lib/poolkeeper. What it installs, and
# how, is what `.ci/wheel` installs in an empty environment.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY requirements/runtime.txt requirements/runtime.txt
RUN python -m venv /opt/poolkeeper \
    && /opt/poolkeeper/bin/pip install --no-cache-dir --require-hashes --requirement requirements/runtime.txt
COPY . .
RUN /opt/poolkeeper/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim-bookworm
COPY --from=build /opt/poolkeeper /opt/poolkeeper
RUN useradd --system --uid 10001 --home-dir /var/lib/poolkeeper --create-home poolkeeper
ENV PATH=/opt/poolkeeper/bin:$PATH \
    POOLKEEPER_DATABASE=sqlite:////var/lib/poolkeeper/state.sqlite3
USER poolkeeper
WORKDIR /var/lib/poolkeeper
VOLUME /var/lib/poolkeeper
ENTRYPOINT ["poolkeeper"]
CMD ["run"]
