import { say } from '#platform/language/text.js';
import {
  Injectable,
  ValidationPipe,
  type ArgumentMetadata,
  type Type,
  type ValidationError,
} from '@nestjs/common';
import { isUnsafeText } from '../forms/form.js';
import { freeMembersOf, type RuleContext } from './validation.decorators.js';
import { badRequest, validationFailed } from '../problems/problem.js';
import { violation, type Violations } from '../problems/violation.js';

/** Validates bodies and queries by their DTO. Unknown members are refused, and so is text that cannot be stored. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  /** The classes of queries that an empty query is valid for. */
  private readonly optional = new Set<Type>();

  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      exceptionFactory: (errors) => validationFailed(violationsOf(errors)),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'query' && metadata.metatype && isEmpty(value))
      return this.empty(metadata.metatype);
    if (metadata.type !== 'custom') refuseUnsafeText(value);
    if (metadata.type === 'body' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
      throw badRequest(say('The body must be a JSON object.'));
    }
    const free = metadata.type === 'body' ? freeMembersOf(metadata.metatype, value as object) : {};
    if (Object.keys(free).length === 0) return super.transform(value, metadata);
    // Free-form objects are kept away from the library, which drops or fails on members such as `constructor`.
    const standIns = Object.fromEntries(Object.keys(free).map((name) => [name, {}]));
    return Object.assign(
      (await super.transform({ ...(value as object), ...standIns }, metadata)) as object,
      free,
    );
  }

  /** Most lists are requested without parameters, so the result for a class is computed once. */
  private async empty(metatype: Type): Promise<unknown> {
    if (!this.optional.has(metatype)) {
      await super.transform({}, { type: 'query', metatype });
      this.optional.add(metatype);
    }
    return new metatype();
  }
}

/** Throws a 400 problem for text that cannot be stored. */
export function refuseUnsafeText(value: unknown): void {
  if (holdsUnsafeText(value)) {
    throw badRequest(say('The request contains a NUL character or an unpaired surrogate.'));
  }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

// Deeper than any body of this service; without a limit, the recursion could overflow the stack.
const MAX_DEPTH = 32;

function holdsUnsafeText(value: unknown, depth = 0): boolean {
  if (depth > MAX_DEPTH) throw badRequest(`The body is nested more than ${MAX_DEPTH} levels deep.`);
  if (typeof value === 'string') return isUnsafeText(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, member]) => isUnsafeText(key) || holdsUnsafeText(member, depth + 1),
  );
}

/** What the rules say, by member: the library only says which rules are broken. */
export function violationsOf(errors: ValidationError[], path = ''): Violations {
  const result: Violations = {};
  for (const { property, value, constraints, contexts = {}, children = [] } of errors) {
    const name = path + property;
    const own = Object.keys(constraints ?? {})
      // A list of objects has its own rule with its own error.
      .filter((constraint) => constraint !== 'nestedValidation')
      .map((constraint) =>
        constraint === 'whitelistValidation'
          ? violation('unknown_member')
          : (contexts[constraint] as RuleContext).violationOf(value),
      );
    // No errors for the parts of a member that is wrong as a whole.
    if (own.length > 0) result[name] = own;
    else Object.assign(result, violationsOf(children, `${name}.`));
  }
  return result;
}
