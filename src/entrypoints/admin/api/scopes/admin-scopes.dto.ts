import { ApiProperty } from '@nestjs/swagger';
import { text } from '#platform/http/api/api-schemas.js';
import { SCOPE_AUDIENCES, type ScopeAudience } from '#access/scopes/scope.entity.js';
import { TRANSLATED } from '#access/scopes/translations.js';
import {
  AreVisibleLines,
  IsJsonObject,
  IsOneOf,
  IsOptionalNotNull,
  IsTrueOrFalse,
} from '#platform/http/validation/validation.decorators.js';

/** The schema of the translations of a description. */
export const TRANSLATIONS = {
  type: 'object' as const,
  description:
    'The description in other languages. Without it those that are there stay, unless the description changes.',
  properties: Object.fromEntries(
    TRANSLATED.map((language) => [language, text(undefined, { minLength: 1, maxLength: 300 })]),
  ),
  additionalProperties: false,
};

/** Body of `PUT /admin/scopes/{name}`. */
export class ScopeDto {
  @ApiProperty({ description: 'Shown to users.' }) @AreVisibleLines(1, 300) description!: string;
  @ApiProperty(TRANSLATIONS) @IsOptionalNotNull() @IsJsonObject() translations?: Record<string, unknown>;
  @IsOneOf(...SCOPE_AUDIENCES) audience!: ScopeAudience;

  @ApiProperty({
    description:
      'Whether the new description means something else: users who agreed to the scope are then asked again. Only with another description.',
  })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  meaning_changed?: boolean;
}
