import { deref, type Media, type OpenApiDocument, type Schema } from './openapi.js';

/** Adds an example to each body that has none, made of the examples of its members. */
export function addExamples(document: OpenApiDocument): OpenApiDocument {
  const illustrated = (content: Record<string, Media> | undefined): void => {
    for (const [type, media] of Object.entries(content ?? {}))
      if (type !== 'text/html' && !type.includes('problem'))
        media.example ??= exampleOf(document, media.schema);
  };
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    illustrated(operation.requestBody?.content);
    for (const answer of Object.values(operation.responses))
      if (!('$ref' in answer)) illustrated(answer.content);
  }
  return document;
}

function exampleOf(document: OpenApiDocument, reference: Schema): unknown {
  const schema = deref(document, reference);
  const [example] = (schema.examples ?? []) as unknown[];
  if (example !== undefined) return example;
  if (schema.enum) return (schema.enum as unknown[])[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.oneOf) return exampleOf(document, (schema.oneOf as Schema[]).at(-1)!);
  if (schema.anyOf) return exampleOf(document, (schema.anyOf as Schema[])[0]!);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return exampleObject(document, schema);
    case 'array':
      return [exampleOf(document, schema.items as Schema)];
    case 'boolean':
      return true;
    case 'integer':
      return schema.minimum ?? 1;
    default:
      return schema.format === 'uri' ? 'https://app.example.com/' : 'A text';
  }
}

/** Members that need not be there are left out, unless there would be none. */
function exampleObject(document: OpenApiDocument, schema: Schema): object {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = (schema.required ?? []) as string[];
  const needed = properties.filter(([name]) => required.includes(name));
  const shown = needed.length > 0 ? needed : properties.slice(0, 1);
  return Object.fromEntries(shown.map(([name, member]) => [name, exampleOf(document, member)]));
}
