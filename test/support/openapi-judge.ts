import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { committedDocument as document } from './openapi-document.js';
import { answerOf, type Answer, type Method, type Operation } from '#entrypoints/api-docs/openapi.js';

// The document itself is linted (scripts/lint-openapi.mjs).
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, inlineRefs: false });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
/** Each schema of the document is known by its name, and so compiled once, not anew for each answer that refers to it. */
const byName = (schema: object): string => JSON.stringify(schema).replaceAll('"#/components/schemas/', '"');
const parsed = (text: string): object => JSON.parse(text) as object;
for (const [name, schema] of Object.entries(document.components.schemas))
  ajv.addSchema(parsed(byName(schema)), name);
/** By the schema, and by its text: many answers have the same. */
const validators = new Map<unknown, ValidateFunction>();

/** Paths also work without their trailing slash, or with one; the revocation endpoint needs its own pattern. */
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method as Method,
    operation,
    pattern: new RegExp(
      `^${path
        .replace(/\/$/, '')
        .replaceAll('.', '\\.')
        .replace(/\{[^}]+\}/g, '[^/]+')}${path === '/o/revoke_token/' ? '/' : '/?'}$`,
    ),
  })),
);

const operationOf = (method: string, path: string): Operation | undefined =>
  operations.find((one) => one.method === method && one.pattern.test(path))?.operation;

interface Seen {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Reports where a response deviates from the OpenAPI document: a status, media type, header or body that is not described. Routes
 * that the document leaves out, such as pages, are not checked.
 */
export function openApiErrors({ method, path, status, headers, text }: Seen): string[] {
  const isHead = method === 'HEAD';
  const operation = operationOf(isHead ? 'get' : method.toLowerCase(), path);
  // Oversized headers are refused before the path is known.
  if (!operation || status === 431) return [];
  const found = operation.responses[String(status)];
  if (!found) return [`the status ${status} is not described`];
  const answer = answerOf(document, found);
  const missing = Object.entries(answer.headers ?? {}).flatMap(([name, { required }]) =>
    required && !headers.has(name) && !(isHead && name.startsWith('X-RateLimit'))
      ? [`the header ${name} is missing`]
      : [],
  );
  return [...missing, ...(isHead ? [] : bodyErrors(answer, headers, text))];
}

function bodyErrors({ content }: Answer, headers: Headers, text: string): string[] {
  if (!content) return text === '' ? [] : ['there is a body where none is described'];
  const type = (headers.get('content-type') ?? '').split(';')[0]!;
  const described = content[type];
  if (!described) return [`the media type ${type} is not described`];
  if (!type.includes('json')) return [];
  return schemaErrors(described.schema, JSON.parse(text));
}

/** Reports where a value deviates from a schema of the document. */
export function schemaErrors(schema: object, value: unknown): string[] {
  const validate = validatorOf(schema);
  if (validate(value)) return [];
  return validate.errors!.map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
}

function validatorOf(schema: object): ValidateFunction {
  let validate = validators.get(schema);
  if (!validate) {
    const text = byName(schema);
    validate = validators.get(text) ?? ajv.compile(parsed(text));
    validators.set(text, validate).set(schema, validate);
  }
  return validate;
}
