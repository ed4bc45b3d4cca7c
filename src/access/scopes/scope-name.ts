import { violation } from '#platform/http/problems/violation.js';
import { nameSchema, type NameRule } from '#platform/http/validation/name-rule.js';
import { IsListOfDifferent } from '#platform/http/validation/validation.decorators.js';

const SCOPES_MAX = 20;

export const SCOPE_NAME: NameRule = {
  pattern: /^[a-z0-9_.:-]{1,64}$/,
  characters: 'a-z, 0-9, _ . : and -',
  example: 'vehicle:read',
};

/** The member `scopes` of a client and of a consent, and lists like it. */
export const IsScopeList = (min = 1): PropertyDecorator =>
  IsListOfDifferent(
    min,
    SCOPES_MAX,
    violation('scope_names', { min, max: SCOPES_MAX }),
    (name) => SCOPE_NAME.pattern.test(name),
    nameSchema(SCOPE_NAME),
  );
