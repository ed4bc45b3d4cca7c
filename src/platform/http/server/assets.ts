import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { besideCode } from '#platform/config/package-root.js';
import { CompressedAsset, type Encoding } from './compressed-asset.js';

/** A static file of the pages: its URL path, and the folder and file name it is read from. */
export interface StaticAsset {
  path: string;
  folder: string;
  file: string;
  /** Its name has its version, and its compressed forms are files next to it. */
  versioned?: true;
  /** What is left out of the file. */
  without?: RegExp;
}

const own = besideCode('platform/web/assets');
const pico = createRequire(import.meta.url).resolve('@picocss/pico/css/pico.min.css');
// Written by the build.
const vendor = path.join(own, 'vendor');
const scalar = existsSync(vendor) ? readdirSync(vendor).find((file) => file.endsWith('.js')) : undefined;

/** The path of the API reference's script; undefined in a source tree that was never built. */
export const API_REFERENCE_SCRIPT = scalar && `/assets/${scalar}`;

export const STATIC_ASSETS: StaticAsset[] = [
  // Its icons are data: URLs, which the pages' CSP blocks.
  {
    path: '/assets/pico.min.css',
    folder: path.dirname(pico),
    file: path.basename(pico),
    without: /--pico-icon-[a-z]+:url\("data:[^"]*"\);?/g,
  },
  { path: '/assets/app.css', folder: own, file: 'app.css' },
  { path: '/assets/docs.css', folder: own, file: 'docs.css' },
  { path: '/assets/guides.css', folder: own, file: 'guides.css' },
  { path: '/assets/guides.js', folder: own, file: 'guides.js' },
  { path: '/assets/page.js', folder: own, file: 'page.js' },
  { path: '/assets/portal.js', folder: own, file: 'portal.js' },
  { path: '/assets/times.js', folder: own, file: 'times.js' },
  { path: '/assets/live-list.js', folder: own, file: 'live-list.js' },
  { path: '/assets/passkeys.js', folder: own, file: 'passkeys.js' },
  { path: '/assets/docs.js', folder: own, file: 'docs.js' },
  { path: '/assets/favicon.svg', folder: own, file: 'favicon.svg' },
  ...(scalar ? [{ path: `/assets/${scalar}`, folder: vendor, file: scalar, versioned: true as const }] : []),
];

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The compressed forms that the build writes beside a versioned file. */
const SUFFIXES = { br: 'br', gzip: 'gz' };

/**
 * Serves the static files from memory, compressed if the client accepts that, so that a slow client holds no file open. Byte
 * ranges are not supported; such a request gets the whole file.
 */
export function addAssets(fastify: FastifyInstance): void {
  for (const asset of STATIC_ASSETS) {
    const cacheControl = `public, max-age=${asset.versioned ? '31536000, immutable' : '3600'}`;
    let kept: Promise<CompressedAsset> | undefined;
    fastify.get(asset.path, { config: {} }, async (request, reply) => {
      void reply.header('cache-control', cacheControl);
      kept ??= readAsset(asset).catch((error: unknown) => {
        // For example because too many files are open: the next request tries again.
        kept = undefined;
        throw error;
      });
      await (await kept).send(request, reply);
      return reply;
    });
  }
}

async function readAsset({ folder, file, versioned, without }: StaticAsset): Promise<CompressedAsset> {
  const content = path.join(folder, file);
  const compressed = versioned
    ? (encoding: Encoding) => readFile(`${content}.${SUFFIXES[encoding]}`)
    : undefined;
  const read = await readFile(content);
  const served = without ? Buffer.from(read.toString().replaceAll(without, '')) : read;
  return new CompressedAsset(served, TYPES[path.extname(file)]!, compressed);
}
