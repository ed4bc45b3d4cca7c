import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { besideCode } from '#platform/config/package-root.js';
import { notFound } from '../problems/problem.js';
import { isHad } from './compressed-asset.js';

// Written by the build (scripts/build-packages.mjs): a few kilobytes.
const FILE = besideCode('platform/web/assets/downloads/charging-data.tgz');
const packed = existsSync(FILE) ? readFileSync(FILE) : undefined;
const digest = packed && createHash('sha256').update(packed).digest('hex').slice(0, 8);

/**
 * Where the packed command line program is, for `npx`, which keeps what it has got from an address: so another program has another
 * one. `cli` in a source tree that was never built.
 */
export const CLI_PACKAGE_PATH = `/downloads/charging-data-${digest ?? 'cli'}.tgz`;

const NAME = /^charging-data-[a-z0-9]{1,64}\.tgz$/;

/** Serves it under any such name: while instances of two builds run, each gets addresses from the other. */
export function addDownloads(fastify: FastifyInstance): void {
  fastify.get<{ Params: { file: string } }>('/downloads/:file', { config: {} }, async (request, reply) => {
    if (!packed || !NAME.test(request.params.file)) throw notFound('There is no such file.');
    const etag = `"${digest}"`;
    void reply.headers({ 'cache-control': 'public, max-age=3600', etag });
    if (isHad(request.headers['if-none-match'], etag)) return reply.status(304).send();
    return reply.type('application/gzip').send(packed);
  });
}
