import { EVENT_SCHEMAS } from '../../../migrations/event-schemas.js';

/** Where the reference shows something: Scalar makes these anchors from the document. A test in a browser follows them. */
const anchor = (tag: string, rest: string): string => `#tag/${tag.toLowerCase()}/${rest}`;

export const operationAnchor = (tag: string, method: string, path: string): string =>
  anchor(tag, method.toUpperCase() + path);

export const webhookAnchor = (type: string): string =>
  anchor('webhooks', `webhook/POST/${type.replaceAll('_', '-')}`);

/** The name of the schema of an event type's `data` in the document. */
export const dataSchemaName = (eventType: string): string =>
  `${eventType.replace(/(?:^|[._])(.)/g, (_match, letter: string) => letter.toUpperCase())}Data`;

/** A schema without its dialect, which is that of the document. */
export const withoutDialect = ({ $schema: _dialect, ...schema }: Schema): Schema => schema;

/** The schemas of the first catalogue, by their names in the document (contract §21). */
export const EVENT_DATA_SCHEMAS: Record<string, Schema> = Object.fromEntries(
  Object.entries(EVENT_SCHEMAS).map(([type, schema]) => [dataSchemaName(type), withoutDialect(schema)]),
);

/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Record<string, unknown>;

/** The parts of an OpenAPI 3.1 document that this service uses. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  examples?: unknown;
  example?: unknown;
  description?: string;
  schema: Schema;
}

export interface Media {
  schema: Schema;
  /** One example, or several by name. */
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface Answer {
  description: string;
  headers?: Record<string, { required?: boolean; description?: string; schema: Schema }>;
  content?: Record<string, Media>;
}

/** A reference to a shared response. */
export interface Reference {
  $ref: string;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Answer | Reference>;
  /** The operation behind whose path that of a feature stands; not in what is served. */
  'x-behind'?: string;
  /** The path ends with a slash. */
  'x-trailing-slash'?: boolean;
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type Paths = Record<string, Partial<Record<Method, Operation>>>;

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Paths;
  webhooks: Paths;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Answer>;
    securitySchemes: Record<string, unknown>;
  };
}

/** The response that a reference names. */
export const answerOf = (document: OpenApiDocument, answer: Answer | Reference): Answer =>
  '$ref' in answer ? document.components.responses[answer.$ref.split('/').at(-1)!]! : answer;
