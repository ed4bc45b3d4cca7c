FROM node:24-bookworm-slim@sha256:235600a8101ab264e117b1768e925532262668dc9b581ef1dd7d96ced463b8e7 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
# The sources are not here yet, so the build (the prepare script) runs after the next COPY.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build
# What Node.js compiles at a start, for every later one. The number of the container's user is a part of the folder's name, and PostgreSQL does not run as root.
RUN install -d -o 1000 -g 1000 /compile-cache \
  && HOME=/tmp NODE_COMPILE_CACHE=/compile-cache setpriv --reuid=1000 --regid=1000 --clear-groups node scripts/first-start.mjs
# The image gets no packages for building and testing, no PostgreSQL of the demonstration, no type declarations and no source maps.
# Nor the packages for other programs, and what only they need.
RUN npm pkg delete workspaces \
  && npm prune --omit=dev --omit=peer --ignore-scripts \
  && rm -rf dist/demo node_modules/typescript node_modules/typeorm/browser node_modules/swagger-ui-dist node_modules/.package-lock.json \
  && find node_modules/@picocss/pico -type f ! -name pico.min.css ! -name package.json ! -iname 'license*' -delete \
  && find dist node_modules -type f -name '*.map' -delete \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && find node_modules -type d -empty -delete \
  # Check that every module the service can load is still there.
  && find dist -name '*.js' ! -path '*/assets/*' ! -path dist/src/main.js ! -path dist/src/operator.js \
    -printf "await import('/app/%p');\n" | node --input-type=module

FROM node:24-bookworm-slim@sha256:235600a8101ab264e117b1768e925532262668dc9b581ef1dd7d96ced463b8e7
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 NODE_COMPILE_CACHE=/compile-cache
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Belongs to root, so the service reads it and cannot change it.
COPY --from=build --chown=root:root /compile-cache /compile-cache
LABEL org.opencontainers.image.title="Charging Data Service" \
  org.opencontainers.image.description="OAuth 2 authority and webhook portal for electric-vehicle charging data" \
  org.opencontainers.image.base.name="docker.io/library/node:24-bookworm-slim"
# The user node, by its number: Kubernetes cannot tell whether a name is root (runAsNonRoot).
USER 1000:1000
EXPOSE 3000
# Liveness only: restarting an instance that waits for its database would not help.
# A shell and bash's own sockets, which take 3 ms of a processor; Node.js takes 50 ms for each check.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /health/live HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
# The same flags as in `npm start` (docs/decisions/0008).
CMD ["node", "--no-allocation-site-pretenuring", "--max-old-space-size=512", "--max-semi-space-size=16", "dist/src/main.js"]
