import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OpenApiDocument } from '../../src/api-docs/openapi.js';

const file = path.join(process.cwd(), 'openapi.json');

/** The committed document; a test compares it with the generated one. */
export const committedDocument = JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
