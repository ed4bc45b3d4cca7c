import { Allow } from 'class-validator';
import { IsPageSize } from '#platform/http/api/page-query.js';
import { violation } from '#platform/http/problems/violation.js';
import { IsMatching, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';

const NUMBER = /^[1-9]\d{0,8}$/;

/** The query of the receipts of one application, paged by the number of the version. */
export class VersionsQuery {
  @IsPageSize()
  page_size?: number;

  @IsOptionalNotNull()
  @IsMatching(NUMBER, violation('not_in_list'))
  page_after?: string;

  @IsOptionalNotNull()
  @IsMatching(NUMBER, violation('not_in_list'))
  page_before?: string;

  @Allow()
  ui_locales?: unknown;
}
