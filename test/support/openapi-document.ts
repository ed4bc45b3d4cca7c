import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Media, OpenApiDocument, Paths, Schema } from '#entrypoints/api-docs/openapi.js';

const read = (name: string): OpenApiDocument =>
  JSON.parse(readFileSync(path.join(process.cwd(), name), 'utf8')) as OpenApiDocument;

/** The committed documents; a test compares them with the generated ones. */
const partnersDocument = read('openapi.json');
const operatorsDocument = read('openapi-operators.json');

/** Of an operation that both describe, that of partners, with the ways to authenticate of both. */
function paths(): Paths {
  const all: Paths = structuredClone(operatorsDocument.paths);
  for (const [path, methods] of Object.entries(partnersDocument.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const theirs = all[path]?.[method as 'get'];
      const security = [...(operation.security ?? []), ...(theirs?.security ?? [])];
      (all[path] ??= {})[method as 'get'] = { ...operation, security };
    }
  }
  return all;
}

/** What both documents describe, as one. */
export const committedDocument: OpenApiDocument = {
  ...partnersDocument,
  paths: paths(),
  components: {
    ...partnersDocument.components,
    schemas: { ...operatorsDocument.components.schemas, ...partnersDocument.components.schemas },
    responses: { ...operatorsDocument.components.responses, ...partnersDocument.components.responses },
  },
};

/** The examples of a body, each with its name; a single one has none. */
export const examplesOf = ({ example, examples }: Media): [name: string | undefined, value: unknown][] =>
  example === undefined
    ? Object.entries(examples ?? {}).map(([name, { value }]) => [name, value])
    : [[undefined, example]];

/** The schema itself, or the one that it refers to. */
export const deref = (document: OpenApiDocument, schema: Schema): Schema =>
  typeof schema.$ref === 'string' ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
