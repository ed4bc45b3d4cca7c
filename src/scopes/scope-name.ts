import { text } from '../http/api/api-schemas.js';
import { violation } from '../http/problems/violation.js';
import { IsListOfDifferent } from '../http/validation/validation.decorators.js';

const SCOPES_MAX = 20;

export const SCOPE_NAME = /^[a-z0-9_.:-]{1,64}$/;
export const isScopeName = (name: string): boolean => SCOPE_NAME.test(name);

/** The member `scopes` of a client and of a consent. */
export const IsScopeList = (): PropertyDecorator =>
  IsListOfDifferent(
    1,
    SCOPES_MAX,
    violation('scope_names', { max: SCOPES_MAX }),
    isScopeName,
    text(undefined, { pattern: SCOPE_NAME.source, example: 'vehicle:read' }),
  );
