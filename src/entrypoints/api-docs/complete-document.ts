import type { Answer, OpenApiDocument, Operation, Paths, Reference, Schema } from './openapi.js';

/**
 * Completes a generated document: paths that end with a slash, references to shared responses, closed objects, and the examples
 * of JSON Schema 2020-12.
 */
export function completeDocument(document: OpenApiDocument): OpenApiDocument {
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [name, closed(schema)]),
  );
  const paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) => {
      const operations = Object.entries(methods);
      const slash = operations.some(([, operation]) => operation['x-trailing-slash']) ? '/' : '';
      return [
        [`${path}${slash}`, Object.fromEntries(operations.map(([method, one]) => [method, complete(one)]))],
      ];
    }),
  ) as Paths;
  return withExamples({ ...document, paths, components: { ...document.components, schemas } });
}

function complete({ 'x-trailing-slash': _slash, ...operation }: Operation): Operation {
  const parameters = (operation.parameters ?? []).map(({ examples: _examples, ...parameter }) => parameter);
  return {
    ...operation,
    security: operation.security ?? [],
    ...(parameters.length > 0 ? { parameters } : { parameters: undefined }),
    responses: Object.fromEntries(
      Object.entries(operation.responses).map(([status, answer]) => [status, referring(answer)]),
    ),
  };
}

const referring = (answer: Answer | Reference): Answer | Reference =>
  '$ref' in answer ? { $ref: answer.$ref } : answer;

/** Views and bodies have exactly the described members, unless the class says otherwise. */
const closed = (schema: Schema): Schema =>
  schema.properties === undefined || 'additionalProperties' in schema
    ? schema
    : { ...schema, additionalProperties: false };

/** The library writes `example` into schemas, as in OpenAPI 3.0. */
export function withExamples<T>(part: T, isSchema = false): T {
  if (Array.isArray(part)) return part.map((item: unknown) => withExamples(item, isSchema)) as T;
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]): [string, unknown] => {
    if (key === 'example') return isSchema && 'type' in part ? ['examples', [value]] : [key, value];
    if (key === 'default' || key === 'enum' || key === 'examples') return [key, value];
    return [key, withExamples(value as unknown, isSchema || key === 'schema' || key === 'schemas')];
  });
  return Object.fromEntries(entries) as T;
}
