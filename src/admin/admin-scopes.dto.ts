import { SCOPE_AUDIENCES, type ScopeAudience } from '../scopes/scope.entity.js';
import { AreVisibleLines, IsListOfDifferent, IsOneOf } from '../http/validation.decorators.js';

export const isScopeName = (text: string): boolean => /^[a-z0-9_.:-]{1,64}$/.test(text);

/** The member `scopes` of a client and of a consent. */
export const IsScopeList = (): PropertyDecorator =>
  IsListOfDifferent(1, 20, 'must be a list of 1 to 20 different scope names', isScopeName);

/** Body of `PUT /admin/scopes/{name}`. */
export class ScopeDto {
  /** Shown to users. */
  @AreVisibleLines(1, 300)
  description!: string;

  @IsOneOf(...SCOPE_AUDIENCES)
  audience!: ScopeAudience;
}
