import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { AccountModule } from '#entrypoints/account/account.module.js';
import { ApplicationLinks } from '#entrypoints/account/pages/application-links.js';
import { SigningKeys } from '#entrypoints/oauth/metadata/signing-keys.js';
import { OAuthModule } from '#entrypoints/oauth/oauth.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { addCatalogsOf } from '#platform/language/catalog.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { AccountReceiptsController } from './account-receipts.controller.js';
import { ReceiptKeyEntity } from './receipt-key.entity.js';
import { RECEIPT_KEYS_PATH, ReceiptKeysController } from './receipt-keys.controller.js';
import { ReceiptKeysRepository } from './receipt-keys.repository.js';
import { ReceiptKeysService } from './receipt-keys.service.js';
import { ReceiptsService } from './receipts.service.js';
import type { VNode } from 'preact';
import type { ConnectedClient } from '#access/tokens/grants/grant.js';
import { hidden } from '#entrypoints/account/pages/message-parts.js';
import { Say, useText } from '#platform/web/layout/say.js';

/** The receipt of the newest version of the consent to an application. */
const ReceiptLink = ({ client: { name, versionId } }: { client: ConnectedClient }): VNode | null =>
  versionId === null ? null : (
    <a href={`/account/receipts/${versionId}`}>
      <Say it="Receipt<hidden> of {name}</hidden>" with={{ name, hidden }} />
    </a>
  );

function AllReceiptsLink(): VNode {
  const t = useText();
  return (
    <p>
      <a href="/account/receipts">{t('All receipts')}</a>
    </p>
  );
}

addCatalogsOf('consent-receipts');

/** Signed receipts of what users agreed to (docs/consent-receipts.md): the pages of the account, the keys, and where they are. */
@Module({
  imports: [
    AccountModule,
    BrandModule,
    ConsentsModule,
    HttpModule,
    OAuthModule,
    ScopesModule,
    UsersModule,
    TypeOrmModule.forFeature([ReceiptKeyEntity]),
  ],
  controllers: [AccountReceiptsController, ReceiptKeysController],
  providers: [ReceiptKeysRepository, ReceiptKeysService, ReceiptsService],
})
export class ConsentReceiptsModule implements OnModuleInit {
  constructor(
    private readonly links: ApplicationLinks,
    private readonly signing: SigningKeys,
    private readonly keys: ReceiptKeysService,
  ) {}

  onModuleInit(): void {
    this.links.ofEach.push(ReceiptLink);
    this.links.below.push(AllReceiptsLink);
    this.signing.path = RECEIPT_KEYS_PATH;
    this.signing.sign = (claims, typ) => this.keys.signJwt(claims, typ);
  }
}
