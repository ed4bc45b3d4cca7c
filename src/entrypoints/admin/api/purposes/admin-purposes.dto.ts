import { LANGUAGES } from '#platform/language/languages.js';
import { ApiProperty } from '@nestjs/swagger';
import { text } from '#platform/http/api/api-schemas.js';
import { IsJsonObject } from '#platform/http/validation/validation.decorators.js';
import { PURPOSE_WORDS_MAX } from '#access/scopes/purposes/purpose-words.js';

/** The schema of the words of a purpose. */
export const PURPOSE_WORDS = {
  type: 'object' as const,
  description: 'What users read, by language. English is shown where there is no other.',
  properties: Object.fromEntries(
    LANGUAGES.map((language) => [language, text(undefined, { minLength: 1, maxLength: PURPOSE_WORDS_MAX })]),
  ),
  additionalProperties: false,
  selfRequired: true,
  required: ['en'],
  example: { en: 'To plan routes with charging stops', de: 'Um Routen mit Ladepausen zu planen' },
};

/** Body of `PUT /admin/purposes/{name}`; the service checks the words. */
export class PurposeDto {
  @ApiProperty(PURPOSE_WORDS) @IsJsonObject() words!: Record<string, unknown>;
}
