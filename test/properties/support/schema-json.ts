import fc from 'fast-check';
import type { Schema } from '#entrypoints/api-docs/openapi.js';
import { anyJson, memberName, type Json } from './json-text.js';
import { LIVE, live } from './live.js';
import { oddText } from './odd-text.js';

/** Values that pass the first validation for members whose schema alone does not determine them. */
const MEANT: Record<string, string[]> = {
  owner_id: [live('ownerId')],
  user_id: [live('userId'), live('operatorId')],
  client_id: [live('clientId'), live('publicClientId')],
  email: [live('newEmail'), live('email')],
  url: [live('hookUrl'), 'http://127.0.0.1:9/', 'http://[::1]:9/x?y=z', 'https://127.1/', 'http://0x7f.1:9/'],
  scopes: ['vehicle:read', 'charging_session:read', live('scopeName'), 'admin:read'],
  purposes: [live('purposeName'), 'nothing'],
  event_types: ['vehicle.updated', 'charging_session.created', 'webhook.test', 'user.consent_granted'],
  type: ['vehicle.updated', 'charging_session.created', 'webhook.test'],
  redirect_uris: ['https://app.example/callback', 'http://127.0.0.1/cb', 'com.example.app:/cb'],
  timestamp: ['2026-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z'],
  external_link: ['https://app.example/'],
  message_id: ['ERR1'],
};

/** Returns exactly what the schema describes, with the first of all alternatives. */
export function plainJson(schema: Schema, name = ''): Json {
  const { properties, items, type } = schema as {
    properties?: Record<string, Schema>;
    items?: Schema;
    type: unknown;
  };
  if (properties) {
    const required = (schema.required ?? Object.keys(properties)) as string[];
    return { members: required.map((member) => [member, plainJson(properties[member]!, member)]) };
  }
  if (items) return { list: [plainJson(items, name)] };
  const choices = (schema.enum ?? MEANT[name]) as string[] | undefined;
  if (choices) return choices[0]!;
  const kind = [type].flat()[0];
  if (kind === 'integer') return 1;
  if (kind === 'boolean') return true;
  return kind === 'object' ? { members: [] } : 'A text of some length';
}

/** Returns roughly what the schema describes: wrong types, odd values, missing, additional and repeated members. */
export function nearlyJson(schema: Schema, name = ''): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 9, arbitrary: likeJson(schema, name) }, { weight: 1, arbitrary: anyJson() });
}

function likeJson(schema: Schema, name: string): fc.Arbitrary<Json> {
  const { properties, items } = schema as { properties?: Record<string, Schema>; items?: Schema };
  if (properties) return membersLike(properties, (schema.required ?? []) as string[]);
  if (items) {
    const { uniqueItems } = schema;
    const item = nearlyJson(items, name);
    const lists = [fc.array(item, { maxLength: 3 }), fc.array(item, { maxLength: 60, size: 'max' })] as const;
    const list = fc.oneof({ weight: 9, arbitrary: lists[0] }, { weight: 1, arbitrary: lists[1] });
    return list.map((each) => ({ list: uniqueItems ? [...new Set(each)] : each }));
  }
  const choices = (schema.enum ?? MEANT[name]) as string[] | undefined;
  if (choices)
    return fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...choices) },
      { weight: 1, arbitrary: oddText() },
    );
  switch ([schema.type].flat()[0]) {
    case 'integer':
      return fc.oneof(fc.integer(), fc.integer({ min: 1, max: 100 }));
    case 'boolean':
      return fc.boolean();
    case 'object':
      return anyJson();
    default:
      return fc.oneof(oddText(), fc.string({ minLength: 12, maxLength: 40 }), liveText());
  }
}

/** The id or secret of an existing fixture, usually where it does not belong. */
export const liveText = (): fc.Arbitrary<string> => fc.constantFrom(...LIVE).map(live);

function membersLike(properties: Record<string, Schema>, required: string[]): fc.Arbitrary<Json> {
  const members = Object.entries(properties).map(([name, schema]) => {
    const value = nearlyJson(schema, name).map((json): [string, Json][] => [[name, json]]);
    const none = fc.constant<[string, Json][]>([]);
    const isNeeded = required.includes(name);
    return fc.oneof({ weight: isNeeded ? 19 : 1, arbitrary: value }, { weight: 1, arbitrary: none });
  });
  const further = fc.oneof(
    { weight: 8, arbitrary: fc.constant<[string, Json][]>([]) },
    { weight: 1, arbitrary: fc.tuple(memberName(), anyJson()).map((member) => [member]) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...Object.keys(properties)), anyJson()).map((member) => [member]),
    },
  );
  return fc.tuple(...members, further).map((parts) => ({ members: parts.flat() }));
}
