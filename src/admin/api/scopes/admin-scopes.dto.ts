import { ApiProperty } from '@nestjs/swagger';
import { text } from '../../../http/api/api-schemas.js';
import { SCOPE_AUDIENCES, type ScopeAudience } from '../../../scopes/scope.entity.js';
import {
  AreVisibleLines,
  IsListOfDifferent,
  IsOneOf,
} from '../../../http/validation/validation.decorators.js';
import { violation } from '../../../http/problems/violation.js';

export const SCOPE_NAME = /^[a-z0-9_.:-]{1,64}$/;
export const isScopeName = (name: string): boolean => SCOPE_NAME.test(name);

/** The member `scopes` of a client and of a consent. */
export const IsScopeList = (): PropertyDecorator =>
  IsListOfDifferent(
    1,
    20,
    violation('scope_names', { max: 20 }),
    isScopeName,
    text(undefined, { pattern: SCOPE_NAME.source, example: 'vehicle:read' }),
  );

/** Body of `PUT /admin/scopes/{name}`. */
export class ScopeDto {
  @ApiProperty({ description: 'Shown to users.' })
  @AreVisibleLines(1, 300)
  description!: string;

  @IsOneOf(...SCOPE_AUDIENCES)
  audience!: ScopeAudience;
}
