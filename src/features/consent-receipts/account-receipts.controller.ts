import { say } from '#platform/language/text.js';
import { Param, Query } from '@nestjs/common';
import { ConsentRecordService } from '#access/consents/record/consent-record.service.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { AccountListQuery } from '#entrypoints/account/account-list-query.js';
import { VersionsQuery } from './versions-query.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { isId } from '#platform/secrets/ids.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { scopeWordsIn } from '#access/scopes/scope.entity.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import type { AccountAnswer, AccountContext } from '#entrypoints/account/account-context.js';
import { AccountGet, AccountPages } from '#entrypoints/account/account-pages.decorator.js';
import { ReceiptsService } from './receipts.service.js';
import { receiptPage, receiptsOfPage, receiptsPage } from './receipts.pages.js';

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
