import { Allow } from 'class-validator';
import { PageQuery } from '#platform/http/api/page-query.js';

/** The query of a list of the account: like that of any list, with the language of the page. */
export class AccountListQuery extends PageQuery {
  @Allow()
  ui_locales?: unknown;
}
