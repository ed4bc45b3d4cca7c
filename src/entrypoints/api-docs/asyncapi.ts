import type { OpenApiDocument, Schema } from './openapi.js';
import { WEBHOOK_HEADERS } from './webhooks.js';

const TRAIT = '#/components/messageTraits/delivered';
const CHANNEL = 'endpoint';

// Members of a schema that hold schemas by name, and those that hold no schema.
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'dependentRequired']);

/**
 * AsyncAPI 3.0 of what webhook endpoints receive, from the OpenAPI document: a message and an operation for each event type, on one channel
 * whose address each partner chooses.
 */
export function asyncApiOf({ info, servers, webhooks, components }: OpenApiDocument): object {
  const types = Object.entries(webhooks).map(([name, { post }]) => ({ name, ...post! }));
  const media = types.map(({ requestBody }) => requestBody!.content['application/json']!);
  const messages = types.map(({ name, summary, description }, n) => [
    name,
    {
      name,
      title: summary,
      description,
      payload: asDraft07(media[n]!.schema),
      examples: [{ payload: media[n]!.example }],
      traits: [{ $ref: TRAIT }],
    },
  ]);
  const operations = types.map(({ name, operationId, summary }) => [
    operationId,
    {
      action: 'send',
      channel: { $ref: `#/channels/${CHANNEL}` },
      summary,
      messages: [{ $ref: `#/channels/${CHANNEL}/messages/${name}` }],
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
  ]);
  const [{ url } = { url: '' }] = servers;
  return {
    asyncapi: '3.0.0',
    info: {
      title: info.title,
      version: info.version,
      description: `The events that webhook endpoints receive, each with an HTTP POST. A 2xx says that it was received; anything else is retried later. The HTTP API is described at ${url}/openapi.json, which also has a feed of these events.`,
      externalDocs: { url: `${url}/docs` },
    },
    defaultContentType: 'application/json',
    channels: {
      [CHANNEL]: {
        address: null,
        title: 'Webhook endpoint',
        description: 'An address that the partner chooses, in the webhook portal.',
        messages: Object.fromEntries(
          types.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: Object.fromEntries(operations),
    components: {
      messages: Object.fromEntries(messages),
      messageTraits: { delivered: { contentType: 'application/json', headers: headersSchema() } },
      schemas: usedBy(media, components.schemas),
    },
  };
}

const headersSchema = (): Schema => ({
  type: 'object',
  properties: Object.fromEntries(
    WEBHOOK_HEADERS.map(({ name, description, schema }) => [name, { ...schema, description }]),
  ),
  required: WEBHOOK_HEADERS.filter(({ required }) => required).map(({ name }) => name),
});

/** The schemas that something refers to, also by way of each other. */
function usedBy(part: unknown, schemas: Record<string, Schema>): Record<string, unknown> {
  const used = new Set<string>();
  const visit = (each: unknown): void => {
    for (const [, name] of JSON.stringify(each).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name!) || schemas[name!] === undefined) continue;
      used.add(name!);
      visit(schemas[name!]);
    }
  };
  visit(part);
  return Object.fromEntries([...used].sort().map((name) => [name, asDraft07(schemas[name])]));
}

/**
 * A JSON Schema 2020-12 as AsyncAPI reads schemas, by draft 7: words that it would read otherwise are put in its own, so that it allows all
 * that the schema allows.
 */
function asDraft07(part: unknown, isMap = false): unknown {
  if (Array.isArray(part)) return part.map((item) => asDraft07(item));
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]: [string, unknown]) =>
    !isMap && VALUES.has(key) ? [key, value] : [key, asDraft07(value, !isMap && MAPS.has(key))],
  );
  const all = Object.fromEntries(entries) as Schema;
  if (isMap) return all;
  const { $ref, prefixItems, items, contains, dependentSchemas, dependentRequired, ...rest } = all;
  const schema: Schema = { ...rest };
  if (prefixItems !== undefined) schema.items = prefixItems;
  if (items !== undefined) schema[prefixItems === undefined ? 'items' : 'additionalItems'] = items;
  if (contains !== undefined && rest.minContains !== 0) schema.contains = contains;
  const beside: object[] = [dependentSchemas, dependentRequired].flatMap((dependencies) =>
    dependencies === undefined ? [] : [{ dependencies }],
  );
  // Beside a reference, everything else would be ignored.
  if ($ref !== undefined && beside.length + Object.keys(schema).length === 0) return { $ref };
  if ($ref !== undefined) beside.push({ $ref });
  if (beside.length > 0) schema.allOf = [...((rest.allOf as unknown[] | undefined) ?? []), ...beside];
  return schema;
}
