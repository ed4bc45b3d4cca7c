// Writes openapi.json and openapi-operators.json, as `npm run openapi` does after a build; a test compares them with the controllers.
import { writeFile } from 'node:fs/promises';
import { format } from 'oxfmt';
import { describeApi } from '../dist/src/describe-api.js';

const { partners, operators } = await describeApi('https://auth.example.com');
for (const [name, document] of [
  ['openapi.json', partners],
  ['openapi-operators.json', operators],
]) {
  const { code } = await format(name, JSON.stringify(document), { printWidth: 80 });
  await writeFile(new URL(`../${name}`, import.meta.url), code);
}
