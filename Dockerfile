# Gatehouse as an image: built in one stage, run in another that has neither compiler nor npm's development packages.
# Runs as an unprivileged user, on a read-only file system; only /data is written, and only by the embedded database.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
RUN npm ci --ignore-scripts
COPY sdk sdk
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="A multi-tenant identity provider" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/.cache \
    GATEHOUSE_LISTEN=0.0.0.0:8080 \
    GATEHOUSE_DATA=/data
WORKDIR /app
COPY package.json README.md CHANGELOG.md SECURITY.md LICENSE ./
COPY bin bin
COPY docs docs
COPY sdk/README.md sdk/
COPY sdk-kotlin/README.md sdk-kotlin/
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY scripts/warm.mjs scripts/
# One start and stop fills the compile cache; later starts read it and write nothing.
RUN node scripts/warm.mjs && install -d -o 10001 -g 10001 -m 700 /data
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/app/bin/gatehouse"]
CMD ["serve"]
