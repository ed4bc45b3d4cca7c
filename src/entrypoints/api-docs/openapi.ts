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
