import { say } from '#platform/language/text.js';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import type { PageRequest } from '#platform/database/queries/read-page.js';
import { badRequest } from '../problems/problem.js';
import { violation } from '../problems/violation.js';
import { IsMatching, IsOptionalNotNull, IsWholeNumber } from '../validation/validation.decorators.js';

const ID = /^[a-z]{4}[0-9A-HJKMNP-TV-Z]{26}$/;
const DEFAULT_PAGE_SIZE = 25;

/** Digits in a query, as a number. */
export const ToNumber = (): PropertyDecorator =>
  Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value));

export const IsPageSize = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ description: 'How many items the page has at most.', default: DEFAULT_PAGE_SIZE }),
    IsOptionalNotNull(),
    ToNumber(),
    IsWholeNumber(1, 100),
  );

/** The query of every list (contract §1): `page_size` from 1 to 100, and one of `page_after` and `page_before` (ids). */
export class PageQuery {
  @IsPageSize() page_size?: number;

  @ApiProperty({ description: 'The id of the item before the page.' })
  @IsOptionalNotNull()
  @IsMatching(ID, violation('not_in_list'))
  page_after?: string;

  @ApiProperty({ description: 'The id of the item after the page.' })
  @IsOptionalNotNull()
  @IsMatching(ID, violation('not_in_list'))
  page_before?: string;
}

export function pageRequestOf(query: PageQuery): PageRequest {
  if (query.page_after !== undefined && query.page_before !== undefined) {
    throw badRequest(say('Send page_after or page_before, not both.'));
  }
  return { size: query.page_size ?? DEFAULT_PAGE_SIZE, after: query.page_after, before: query.page_before };
}
