import { say } from '#platform/language/text.js';
import { Param, Query } from '@nestjs/common';
import { ConsentRecordService } from '#access/consents/record/consent-record.service.js';
import { pageRequestOf, IsPageSize } from '#platform/http/api/page-query.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { isId } from '#platform/secrets/ids.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { scopeWordsIn } from '#access/scopes/scope.entity.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import {
  type AccountAnswer,
  type AccountContext,
  AccountListQuery,
} from '#entrypoints/account/account-context.js';
import { AccountGet, AccountPages } from '#entrypoints/account/account.guard.js';
import { ReceiptsService } from './receipts.service.js';
import { receiptPage, receiptsOfPage, receiptsPage } from './receipts.pages.js';
import { Allow } from 'class-validator';
import { violation } from '#platform/http/problems/violation.js';
import { IsMatching, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';

const NUMBER = /^[1-9]\d{0,8}$/;

/** The query of the receipts of one application, paged by the number of the version. */
class VersionsQuery {
  @IsPageSize() page_size?: number;
  @IsOptionalNotNull() @IsMatching(NUMBER, violation('not_in_list')) page_after?: string;
  @IsOptionalNotNull() @IsMatching(NUMBER, violation('not_in_list')) page_before?: string;
  @Allow() ui_locales?: unknown;
}

/** Receipts of what a user agreed to, for every version of every consent (docs/consent-receipts.md). */
@AccountPages('receipts')
export class AccountReceiptsController {
  constructor(
    private readonly record: ConsentRecordService,
    private readonly receipts: ReceiptsService,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
  ) {}

  /** The newest receipt of each application, including those that are no longer connected. */
  @AccountGet()
  async list(@Context() context: AccountContext, @Query() query: AccountListQuery): Promise<AccountAnswer> {
    return { page: receiptsPage(await this.record.listNewest(context.user.id, pageRequestOf(query))) };
  }

  /** All receipts of one application, the newest first; 404 if there are none. */
  @AccountGet('of/:client_id')
  async listOf(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
    @Query() query: VersionsQuery,
  ): Promise<AccountAnswer> {
    const request = pageRequestOf(query);
    const found = isId('clnt', clientId) && (await this.record.list(context.user.id, clientId, request));
    if (!found || (found.items.length === 0 && !request.after && !request.before)) {
      throw notFound(say('You never connected such an application.'));
    }
    return { page: receiptsOfPage(clientId, found) };
  }

  /** A receipt to read; 404 for someone else's. */
  @AccountGet(':id')
  async show(@Context() context: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    const { language } = context.reader;
    const { receipt } = await this.receipts.get(context.user.id, id);
    const described = await this.scopes.describe(receipt.scopes);
    const wordsOf = (name: string) => {
      const scope = described.find((each) => each.name === name);
      return scope ? scopeWordsIn(scope, language) : name;
    };
    const purposes = await this.purposes.wordsOf(receipt.purposes, language);
    return { page: receiptPage({ receipt, wordsOf, purposes }) };
  }

  /** The same receipt, signed, as a file. */
  @AccountGet(':id/file')
  async download(@Context() context: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    const signed = await this.receipts.get(context.user.id, id);
    const text = `${JSON.stringify(signed, null, 2)}\n`;
    return { file: { name: `receipt-${id}.json`, type: 'application/json', text } };
  }
}
