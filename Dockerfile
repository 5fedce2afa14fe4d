FROM swift:6.3-bookworm AS build
WORKDIR /src
COPY Scripts/install-packages Scripts/
RUN Scripts/install-packages && rm -rf /var/lib/apt/lists/*
# The dependencies change less often than the sources: fetched in a layer of their own.
COPY Package.swift ./
RUN swift package resolve
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --product throng --static-swift-stdlib \
  && install -D -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/throng" /out/throng

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Throng" org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    ca-certificates libcurl4 libev4 libnats3.4 libpq5 libsimdjson14 libsqlite3-0 libssl3 libstdc++6 libwebsockets-evlib-ev libwebsockets17 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --user-group --no-create-home throng \
  && install -d -o throng -g throng -m 0700 /var/lib/throng
COPY --from=build /out/throng /usr/local/bin/throng
USER throng
WORKDIR /var/lib/throng
# Docker kills what has not ended ten seconds after the signal, and a drain ends up to two seconds behind its time.
ENV THRONG_DATA_DIR=/var/lib/throng THRONG_DRAIN_DURATION=7s
VOLUME /var/lib/throng
EXPOSE 8080
STOPSIGNAL SIGTERM
# It asks whether the server lives: one that is not ready, because the disk is full, gets no better by a restart.
# It reads the variables and THRONG_CONFIG as the server does, but not the server's flags.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["throng", "health"]
ENTRYPOINT ["throng"]
CMD ["serve"]
