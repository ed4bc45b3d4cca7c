import type { EventTypeVersionEntity } from '../event-types/event-type.entity.js';
import { referredBy } from '../event-types/schema-parts.js';

/** What a member of an event can be; `any` if its schema does not say. */
export type Kind = 'text' | 'number' | 'boolean' | 'null' | 'object' | 'any';

/** The members of events by their dotted paths, with what each can be in any of the types. */
export type EventMembers = ReadonlyMap<string, ReadonlySet<Kind>>;

type Schema = Record<string, unknown>;
type SchemaOfVersion = Pick<EventTypeVersionEntity, 'schema' | 'draft'>;

const KIND_OF_TYPE: Record<string, Kind> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
  object: 'object',
};
/** Those whose parts describe the same value. */
const COMBINED = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const FURTHER = ['items', 'then', 'else'];

export const kindOf = (value: unknown): Kind =>
  value === null ? 'null' : (KIND_OF_TYPE[typeof value] ?? 'object');

/** The members that events of these types have by the schemas that can be published with. A list counts as its members. */
export function membersOf(types: readonly { versions: readonly SchemaOfVersion[] }[]): EventMembers {
  const members = new Map<string, Set<Kind>>();
  for (const name of ['id', 'type', 'timestamp', 'user_id']) members.set(name, new Set(['text']));
  for (const { versions } of types) {
    for (const { schema, draft } of versions) if (!draft) new Walk(schema, members).visit(schema, 'data');
  }
  members.delete('data');
  return new Map([...members].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Visits what a schema says of each member; that schemas end was checked when they were accepted. */
class Walk {
  constructor(
    private readonly root: Schema,
    private readonly members: Map<string, Set<Kind>>,
  ) {}

  visit(part: unknown, path: string): void {
    const kinds = this.members.get(path) ?? new Set<Kind>();
    this.members.set(path, kinds);
    if (!isSchema(part)) return void kinds.add('any');
    const inner = this.innerOf(part);
    const own = kindsIn(part);
    for (const kind of own) kinds.add(kind);
    if (isSchema(part.properties)) {
      for (const [name, schema] of Object.entries(part.properties)) {
        if (name !== '' && !name.includes('.')) this.visit(schema, `${path}.${name}`);
      }
    }
    for (const each of inner) this.visit(each, path);
    if (own.length === 0 && inner.length === 0 && !isSchema(part.properties)) kinds.add('any');
  }

  private innerOf(part: Schema): unknown[] {
    const combined = COMBINED.flatMap((name) => (Array.isArray(part[name]) ? (part[name] as unknown[]) : []));
    const further = FURTHER.flatMap((name) => (isSchema(part[name]) ? [part[name]] : []));
    return [
      ...combined,
      ...further,
      ...(typeof part.$ref === 'string' ? [referredBy(part.$ref, this.root)] : []),
    ];
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function kindsIn({ type, const: only, enum: values }: Schema): Kind[] {
  if (type !== undefined) return [type].flat().flatMap((name) => KIND_OF_TYPE[name as string] ?? []);
  if (only !== undefined) return [kindOf(only)];
  return Array.isArray(values) ? values.map(kindOf) : [];
}
