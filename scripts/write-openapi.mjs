// Writes openapi.json, as `npm run openapi` does after a build; a test compares the two.
import { writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { describeApi } from '../dist/src/describe-api.js';

const document = JSON.stringify(await describeApi('https://auth.example.com'));
await writeFile(new URL('../openapi.json', import.meta.url), await format(document, { parser: 'json' }));
