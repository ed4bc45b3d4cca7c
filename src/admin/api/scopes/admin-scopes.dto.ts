import { ApiProperty } from '@nestjs/swagger';
import { SCOPE_AUDIENCES, type ScopeAudience } from '../../../scopes/scope.entity.js';
import {
  AreVisibleLines,
  IsOneOf,
  IsOptionalNotNull,
  IsTrueOrFalse,
} from '../../../http/validation/validation.decorators.js';

/** Body of `PUT /admin/scopes/{name}`. */
export class ScopeDto {
  @ApiProperty({ description: 'Shown to users.' })
  @AreVisibleLines(1, 300)
  description!: string;

  @IsOneOf(...SCOPE_AUDIENCES)
  audience!: ScopeAudience;

  @ApiProperty({
    description:
      'Whether the new description means something else: users who agreed to the scope are then asked anew. Only with another description.',
  })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  meaning_changed?: boolean;
}
