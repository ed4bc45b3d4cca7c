import { isDeepStrictEqual } from 'node:util';
import { EVENT_RESOURCES, EVENT_SCHEMAS } from '../../../migrations/event-schemas.js';
import { EVENT_TYPES } from '../../../migrations/event-types.js';
import { currentVersion, type VersionedEventType } from '#events/webhooks/event-types/event-type.entity.js';
import { withExamples } from './complete-document.js';
import {
  type OpenApiDocument,
  type Operation,
  type Schema,
  dataSchemaName,
  withoutDialect,
} from './openapi.js';
import { webhookOf, webhookOperationId } from './webhooks.js';

const FIRST = new Map(
  EVENT_TYPES.map(([name, scope, , description, sample]) => [name, { scope, description, sample }]),
);

// Members of a schema that hold schemas by name, and those that hold no schema.
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const VALUES = new Set(['const', 'enum', 'default', 'examples']);

/** What the document says of an event type that is not as it was at first. */
export interface OperatorsEventType {
  name: string;
  scope: string | null;
  description: string;
  sample: object;
  resource: string | null;
  /** Of the current version. */
  schema: Schema;
}

/** The types that operators have added or changed: what the generated document does not say. */
export const operatorsEventTypes = (types: VersionedEventType[]): OperatorsEventType[] =>
  types
    .map((type) => {
      const { name, scope, description, sample, resource } = type;
      return { name, scope, description, sample, resource, schema: currentVersion(type)!.schema };
    })
    .filter((type) => !isAsAtFirst(type));

/** The document with these types. */
export function withEventTypes(document: OpenApiDocument, types: OperatorsEventType[]): OpenApiDocument {
  const { schemas } = document.components;
  const added: { schemas: Record<string, Schema>; operations: Record<string, Operation> } = {
    schemas: {},
    operations: {},
  };
  const operations = [document.paths, document.webhooks].flatMap((each) =>
    Object.values(each).flatMap((methods) => Object.values(methods)),
  );
  const ids = new Set(operations.map(({ operationId }) => operationId));
  const names = new Set(Object.keys(schemas));
  for (const type of types) {
    const { name, scope, description, sample, resource } = type;
    const isFirst = FIRST.has(name);
    const dataSchema = isFirst ? dataSchemaName(name) : free(dataSchemaName(name), names);
    const operationId = isFirst ? webhookOperationId(name) : free(webhookOperationId(name), ids);
    added.schemas[dataSchema] = placedAt(
      withoutDialect(type.schema),
      `#/components/schemas/${dataSchema}`,
    ) as Schema;
    added.operations[name] = withExamples(
      webhookOf({
        ...{ type: name, scope, description, sample, dataSchema, operationId },
        isNumbered: resource !== null,
      }),
    );
  }
  const all = Object.entries({ ...schemas, ...added.schemas }).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...document,
    webhooks: {
      ...document.webhooks,
      ...Object.fromEntries(Object.entries(added.operations).map(([name, post]) => [name, { post }])),
    },
    components: { ...document.components, schemas: Object.fromEntries(all) },
  };
}

const isAsAtFirst = ({ name, scope, description, sample, resource, schema }: OperatorsEventType): boolean =>
  isDeepStrictEqual({ scope, description, sample }, FIRST.get(name)) &&
  resource === (EVENT_RESOURCES[name] ?? null) &&
  isDeepStrictEqual(schema, EVENT_SCHEMAS[name]);

/** The name, or the first one with a number that is not taken; taken from now on. */
function free(name: string, taken: Set<string>): string {
  let found = name;
  for (let n = 2; taken.has(found); n++) found = `${name}${n}`;
  taken.add(found);
  return found;
}

/** A schema whose references to its own parts are right at its place in the document. */
function placedAt(part: unknown, place: string, isMap = false): unknown {
  if (Array.isArray(part)) return part.map((item) => placedAt(item, place));
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]: [string, unknown]) => {
    if (!isMap && VALUES.has(key)) return [key, value] as const;
    if (!isMap && key === '$ref' && typeof value === 'string') return [key, place + value.slice(1)] as const;
    return [key, placedAt(value, place, !isMap && MAPS.has(key))] as const;
  });
  return Object.fromEntries(entries);
}
