import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { linearPattern } from './linear-pattern.js';
import { entriesOf, SchemaError } from './schema-parts.js';

/** What checking one event may cost. Measured: 30 to 150 ms of a processor. */
const STEPS = 4_000_000;
/** Characters that are read in the time of one comparison. */
const CHARACTERS = 16;

/** A check that was aborted because it would have kept the service busy. */
class UsedUp extends Error {}

/**
 * What the check of one event may cost. A schema compares each value of the data at most once with each of its entries, and that
 * is spent at the start; patterns and formats spend their cost for each text.
 */
class CheckBudget {
  private left = 0;

  /** Begins a check of data by a schema with this many entries. Throws UsedUp if it would cost too much. */
  begin(data: unknown, entries: number): void {
    this.left = STEPS;
    const waiting: unknown[] = [data];
    while (waiting.length > 0) {
      const value = waiting.pop();
      this.spend(typeof value === 'string' ? entries * (1 + value.length / CHARACTERS) : entries);
      if (typeof value !== 'object' || value === null) continue;
      for (const member of Object.values(value)) waiting.push(member);
    }
  }

  /** Throws UsedUp when nothing is left. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new UsedUp();
  }
}

/** JSON Schema 2020-12, which every schema is. */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Instructions of all patterns of a schema: bounds the memory that they take. */
const PATTERNS_MAX = 5_000;
const PATH_MAX = 200;

/** Formats whose check takes no longer than reading the text. */
const FORMATS = ['date', 'time', 'date-time', 'duration', 'uuid', 'uri', 'email', 'ipv4'] as const;

type FormatName = (typeof FORMATS)[number];

/** Where data breaks its schema: a path such as `data.energy_kwh`, and what is wrong, without any value. */
export interface SchemaBreak {
  path: string;
  message: string;
}

/** Checks data; undefined if it fits the schema. Stops at the first violation, so that no data makes it costly. */
export type SchemaCheck = (data: unknown) => SchemaBreak | undefined;

export { SchemaError };

let metaSchema: Ajv2020 | undefined;

const TOO_COSTLY: SchemaBreak = { path: 'data', message: 'is too much to check against its schema' };

/** A separate compiler for each schema: a shared one would keep everything that it ever compiled. */
function newCompiler(budget: CheckBudget): Ajv2020 {
  const spend = (steps: number) => budget.spend(steps);
  let size = 0;
  const regExp = (text: string) => {
    const pattern = linearPattern(text, spend);
    size += pattern.size;
    if (size > PATTERNS_MAX) throw new Error('its patterns are too large together');
    return pattern;
  };
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
    code: { regExp: Object.assign(regExp, { code: 'linearPattern' }) },
  });
  // The compiler looks names up in plain objects, so inherited names must not count as formats or keywords.
  for (const names of [compiler.formats, compiler.RULES.keywords, compiler.RULES.all])
    Object.setPrototypeOf(names, null);
  for (const name of FORMATS) {
    const isOfFormat = checkOfFormat(name);
    compiler.addFormat(name, (text: string) => (spend(text.length), isOfFormat(text)));
  }
  return compiler;
}

function checkOfFormat(name: FormatName): (text: string) => boolean {
  const format = fullFormats[name];
  if (format instanceof RegExp) return (text) => format.test(text);
  const check = typeof format === 'object' ? format.validate : format;
  return check as (text: string) => boolean;
}

/** Compiles a schema that was accepted earlier. A check ends at the latest when its budget is used up. */
export function compileSchema(schema: object): SchemaCheck {
  const entries = entriesOf(schema);
  const budget = new CheckBudget();
  const validate = newCompiler(budget).compile(schema);
  return (data) => {
    try {
      budget.begin(data, entries);
      return validate(data) ? undefined : breakOf(validate.errors![0]!);
    } catch (error) {
      if (error instanceof UsedUp) return TOO_COSTLY;
      throw error;
    }
  };
}

/** Compiles a new schema. Throws a SchemaError for one that is not valid, or could keep the service busy. */
export function acceptSchema(schema: Record<string, unknown>): SchemaCheck {
  if (schema.$schema !== undefined && schema.$schema !== DIALECT) {
    throw new SchemaError(`$schema must be ${DIALECT}, or left out`);
  }
  entriesOf(schema);
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
