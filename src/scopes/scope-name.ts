import { text } from '../http/api/api-schemas.js';
import { violation } from '../http/problems/violation.js';
import { IsListOfDifferent } from '../http/validation/validation.decorators.js';

const SCOPES_MAX = 20;

export const SCOPE_NAME = /^[a-z0-9_.:-]{1,64}$/;
export const isScopeName = (name: string): boolean => SCOPE_NAME.test(name);

/** The member `scopes` of a client and of a consent, and lists like it. */
export const IsScopeList = (min = 1): PropertyDecorator =>
  IsListOfDifferent(
    min,
    SCOPES_MAX,
    violation('scope_names', { min, max: SCOPES_MAX }),
    isScopeName,
    text(undefined, { pattern: SCOPE_NAME.source, example: 'vehicle:read' }),
  );
