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
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    libev4 libsimdjson14 libsqlite3-0 libssl3 libstdc++6 libwebsockets-evlib-ev libwebsockets17 \
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
# bash is essential in Debian and can open a socket: the image needs no curl.
# It asks whether the server lives: one that is not ready, because the disk is full, gets no better by a restart.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "-c", \
  "port=${THRONG_INTERNAL_LISTEN:-:8081}; exec 3<>/dev/tcp/127.0.0.1/${port##*:} && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 2 _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["throng"]
CMD ["serve"]
