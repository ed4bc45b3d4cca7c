import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import type { PageRequest } from '../../database/queries/read-page.js';
import { optional, text, whole } from './api-schemas.js';
import { badRequest } from '../problems/problem.js';

const ID = /^[a-z]{4}[0-9A-HJKMNP-TV-Z]{26}$/;
const DEFAULT_PAGE_SIZE = 25;
/** The query of every list (contract §1): `page_size` from 1 to 100, and one of `page_after` and `page_before` (ids). */
export class PageQuery {
  @IsOptional()
  @Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value))
  @IsInt({ message: 'must be a whole number from 1 to 100' })
  @Min(1, { message: 'must be a whole number from 1 to 100' })
  @Max(100, { message: 'must be a whole number from 1 to 100' })
  @ApiProperty(
    optional(
      whole('How many items the page has at most.', { minimum: 1, maximum: 100, default: DEFAULT_PAGE_SIZE }),
    ),
  )
  page_size?: number;

  @IsOptional()
  @Matches(ID, { message: 'must be the id of a list member' })
  @ApiProperty(optional(text('The id of the item before the page.', { pattern: ID.source })))
  page_after?: string;

  @IsOptional()
  @Matches(ID, { message: 'must be the id of a list member' })
  @ApiProperty(optional(text('The id of the item after the page.', { pattern: ID.source })))
  page_before?: string;
}

export function pageRequestOf(query: PageQuery): PageRequest {
  if (query.page_after !== undefined && query.page_before !== undefined) {
    throw badRequest('Send page_after or page_before, not both.');
  }
  return { size: query.page_size ?? DEFAULT_PAGE_SIZE, after: query.page_after, before: query.page_before };
}
