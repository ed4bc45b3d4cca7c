import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { plainPattern } from './plain-pattern.js';

/** JSON Schema 2020-12, which every schema is. */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Subschemas and other parts, once each for every place that refers to it: bounds what one event can cost. */
const PARTS_MAX = 1_000;
/** Comparing every item with every other: only in short lists. */
const UNIQUE_ITEMS_MAX = 100;
const PATH_MAX = 200;

/** Formats whose check takes no longer than reading the text. */
const FORMATS = ['date', 'time', 'date-time', 'duration', 'uuid', 'uri', 'email', 'ipv4'] as const;

/** They change what a reference means, or load, or make the check asynchronous. */
const REFUSED = [
  '$id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$async',
];

/** Where data breaks its schema: a path such as `data.energy_kwh`, and what is wrong, without any value. */
export interface SchemaBreak {
  path: string;
  message: string;
}

/** Checks data; undefined if it keeps to the schema. Finds the first break only, so that no data makes it costly. */
export type SchemaCheck = (data: unknown) => SchemaBreak | undefined;

/** A schema that is not accepted; the message says why. */
export class SchemaError extends Error {}

let metaSchema: Ajv2020 | undefined;

/** A compiler of its own for each schema: a shared one would keep everything that it ever compiled. */
function newCompiler(): Ajv2020 {
  const compiler = new Ajv2020({
    strictSchema: true,
    strictNumbers: true,
    strictTypes: false,
    strictTuples: false,
    allErrors: false,
    ownProperties: true,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign(plainPattern, { code: 'plainPattern' }) },
  });
  // The declaration of the package does not fit the module that it is.
  const add = addFormats as unknown as (ajv: Ajv2020, options: object) => void;
  add(compiler, { mode: 'full', formats: FORMATS });
  return compiler;
}

/** Compiles a schema that was accepted. */
export function compileSchema(schema: object): SchemaCheck {
  const validate = newCompiler().compile(schema);
  return (data) => (validate(data) ? undefined : breakOf(validate.errors![0]!));
}

/** Compiles a schema that somebody wrote. Throws a SchemaError for one that is not valid, or could keep the service busy. */
export function acceptSchema(schema: Record<string, unknown>): SchemaCheck {
  if (schema.$schema !== undefined && schema.$schema !== DIALECT) {
    throw new SchemaError(`$schema must be ${DIALECT}, or left out`);
  }
  new Walk(schema).visit(schema, true);
  metaSchema ??= new Ajv2020({ strict: false, logger: false });
  if (!metaSchema.validateSchema(schema)) {
    const [error] = metaSchema.errors!;
    throw new SchemaError(`is not a JSON Schema: ${pathOf(error!.instancePath, 'schema')} ${error!.message}`);
  }
  try {
    return compileSchema(schema);
  } catch (error) {
    throw new SchemaError(`is not accepted: ${(error as Error).message.slice(0, 300)}`);
  }
}

/** Visits every part of a schema, and what it refers to, as often as a check would. */
class Walk {
  private left = PARTS_MAX;

  constructor(private readonly root: object) {}

  visit(part: unknown, isRoot = false): void {
    if (typeof part !== 'object' || part === null) return;
    if (--this.left < 0) {
      throw new SchemaError(
        `must have at most ${PARTS_MAX} parts, counting what is referred to each time, and must not refer to itself`,
      );
    }
    if (!Array.isArray(part)) this.checkKeywords(part as Record<string, unknown>, isRoot);
    for (const member of Object.values(part)) this.visit(member);
  }

  private checkKeywords(part: Record<string, unknown>, isRoot: boolean): void {
    const refused = REFUSED.find((name) => typeof part[name] === 'string' || part[name] === true);
    if (refused) throw new SchemaError(`must not contain ${refused}`);
    if (!isRoot && typeof part.$schema === 'string')
      throw new SchemaError('may name $schema only at its top');
    if (part.uniqueItems === true && !(Number(part.maxItems) <= UNIQUE_ITEMS_MAX)) {
      throw new SchemaError(`uniqueItems needs maxItems of at most ${UNIQUE_ITEMS_MAX}`);
    }
    if (typeof part.$ref === 'string') this.visit(this.referredBy(part.$ref));
  }

  private referredBy(reference: string): unknown {
    if (!/^#(\/|$)/.test(reference))
      throw new SchemaError('may refer only to parts of itself: $ref begins with #/');
    let found: unknown = this.root;
    for (const part of reference.split('/').slice(1)) {
      const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const inside = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
      if (!inside) throw new SchemaError('refers to something that it does not contain');
      found = (found as Record<string, unknown>)[name];
    }
    return found;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function breakOf({ keyword, instancePath, params, message }: ErrorObject): SchemaBreak {
  const named = (member: unknown) => pathOf(`${instancePath}/${String(member)}`, 'data');
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, unknown>;
  if (keyword === 'required') return { path: named(missingProperty), message: 'is required' };
  if (additionalProperty !== undefined || unevaluatedProperty !== undefined) {
    return { path: named(additionalProperty ?? unevaluatedProperty), message: 'is not a known member' };
  }
  return { path: pathOf(instancePath, 'data'), message: message ?? 'breaks the schema' };
}

const pathOf = (instancePath: string, root: string): string =>
  [root, ...instancePath.split('/').slice(1)]
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
    .slice(0, PATH_MAX);
