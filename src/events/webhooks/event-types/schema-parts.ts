const ID_MAX = 255;

/** The value that a JSON Pointer (RFC 6901) to a member leads to; undefined if not found. */
function valueAt(pointer: string, root: unknown): unknown {
  if (!pointer.startsWith('/')) return undefined;
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The id that the pointer leads to, as text; null if what is there cannot be one. */
export function idAt(pointer: string, root: unknown): string | null {
  const value = valueAt(pointer, root);
  const id = typeof value === 'string' ? value : Number.isSafeInteger(value) ? String(value) : '';
  return id !== '' && Array.from(id).length <= ID_MAX ? id : null;
}

/** A schema that is not accepted; the message says why. */
export class SchemaError extends Error {}

/** The most subschemas and other parts, counted once for every reference to them: limits how large a schema can become. */
const PARTS_MAX = 1_000;
/**
 * The most values in lists such as `enum` and `required`, counted like parts: limits how many values one value is compared with.
 */
const LISTED_MAX = 5_000;
/** `uniqueItems` compares every item with every other, so it is only allowed for short lists. */
const UNIQUE_ITEMS_MAX = 100;

/** Keywords that change what a reference means, load schemas, or make the check asynchronous. */
const REFUSED = [
  '$id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$async',
];

/**
 * How many comparisons a schema makes with one value at most: its parts and the values in its lists, once each for every place that
 * refers to them. Throws a SchemaError for one that is too large, or has what no schema may have.
 */
export function entriesOf(schema: object): number {
  const walk = new Walk(schema);
  walk.visit(schema, true);
  return walk.entries;
}

/** Visits every part of a schema and everything it refers to, as often as a check would. */
class Walk {
  private left = PARTS_MAX;
  private listed = 0;

  constructor(private readonly root: object) {}

  visit(part: unknown, isRoot = false): void {
    if (typeof part !== 'object' || part === null) return;
    if (--this.left < 0) {
      throw new SchemaError(
        `must have at most ${PARTS_MAX} parts, counting what is referred to each time, and must not refer to itself`,
      );
    }
    if (Array.isArray(part)) this.countListed(part.length);
    else this.checkKeywords(part as Record<string, unknown>, isRoot);
    for (const member of Object.values(part)) this.visit(member);
  }

  get entries(): number {
    return PARTS_MAX - this.left + this.listed;
  }

  private countListed(values: number): void {
    this.listed += values;
    if (this.listed > LISTED_MAX) {
      throw new SchemaError(
        `must have at most ${LISTED_MAX} values in its lists, counting what is referred to each time`,
      );
    }
  }

  private checkKeywords(part: Record<string, unknown>, isRoot: boolean): void {
    const refused = REFUSED.find((name) => typeof part[name] === 'string' || part[name] === true);
    if (refused) throw new SchemaError(`must not contain ${refused}`);
    if (!isRoot && typeof part.$schema === 'string')
      throw new SchemaError('may name $schema only at its top');
    if (part.uniqueItems === true) {
      const most = Number(part.maxItems);
      if (!(most <= UNIQUE_ITEMS_MAX))
        throw new SchemaError(`uniqueItems needs maxItems of at most ${UNIQUE_ITEMS_MAX}`);
      // Each item is compared with every other.
      this.countListed(most);
    }
    if (typeof part.$ref === 'string') this.visit(referredBy(part.$ref, this.root));
  }
}

/** The part of a schema that a reference of it names; throws a SchemaError if there is none. */
export function referredBy(reference: string, root: object): unknown {
  if (!/^#(\/|$)/.test(reference))
    throw new SchemaError('may refer only to parts of itself: $ref begins with #/');
  let found: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const inside = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    if (!inside) throw new SchemaError('refers to something that it does not contain');
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
