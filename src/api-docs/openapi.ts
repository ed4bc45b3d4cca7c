/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type Schema = Record<string, unknown>;

/** The parts of an OpenAPI 3.1 document that this service uses. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

export interface Answer {
  description: string;
  headers?: Record<string, { required?: boolean; description?: string; schema: Schema }>;
  content?: Record<string, { schema: Schema; example?: unknown }>;
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
  requestBody?: { required: boolean; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, Answer | Reference>;
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

export const text = (description?: string, more: Schema = {}): Schema => ({
  type: 'string',
  ...(description ? { description } : {}),
  ...more,
});
export const flag = (description?: string): Schema => ({
  type: 'boolean',
  ...(description ? { description } : {}),
});
export const whole = (description?: string, more: Schema = {}): Schema => ({
  type: 'integer',
  ...(description ? { description } : {}),
  ...more,
});
export const time = (description?: string): Schema => text(description, { format: 'date-time' });
export const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
export const listOf = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more });
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const idOf = (prefix: string, description?: string): Schema =>
  text(description, {
    pattern: `^${prefix}[0-7][0-9A-HJKMNP-TV-Z]{25}$`,
    examples: [`${prefix}01HN2NJ9NMRZBXT1H6FT9N7735`],
  });

/** An object with exactly these members; all but the optional ones are always present. */
export const object = (properties: Record<string, Schema>, optional: string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** The same for a request: only the listed members are required. */
export const body = (properties: Record<string, Schema>, required: string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
  additionalProperties: false,
});

/** The response that a reference names. */
export const answerOf = (document: OpenApiDocument, answer: Answer | Reference): Answer =>
  '$ref' in answer ? document.components.responses[answer.$ref.split('/').at(-1)!]! : answer;
