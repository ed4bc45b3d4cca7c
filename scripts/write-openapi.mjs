// Writes openapi.json, as `npm run openapi` does after a build; a test compares the two.
import { writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { openApiDocument } from '../dist/src/api-docs/document.js';

const document = JSON.stringify(openApiDocument('https://auth.example.com'));
await writeFile(new URL('../openapi.json', import.meta.url), await format(document, { parser: 'json' }));
