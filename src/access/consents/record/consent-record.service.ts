import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { FlattenedSign } from 'jose';
import { BrandService } from '#records/brand/brand.service.js';
import { Settings } from '#platform/config/settings.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { notFound } from '#platform/http/problems/problem.js';
import type { ConsentVersionEntity } from './consent-version.entity.js';
import { ConsentVersionsRepository, type VersionWithWords } from './consent-versions.repository.js';
import { receiptOf, type SignedReceipt } from './receipt.js';
import { ReceiptKeysService } from './receipt-keys.service.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The record of consents for the people who gave them (docs/consent-receipts.md). */
@Injectable()
export class ConsentRecordService {
  constructor(
    private readonly versions: ConsentVersionsRepository,
    private readonly keys: ReceiptKeysService,
    private readonly settings: Settings,
    private readonly brand: BrandService,
  ) {}

  /** A version of a consent of this user; throws a 404 problem. */
  async get(userId: string, id: string): Promise<VersionWithWords> {
    const found = UUID.test(id) ? await this.versions.find(userId, id) : null;
    if (!found) throw notFound(say('There is no such receipt.'));
    return found;
  }

  /** The versions of the user's consent to a client, the newest first. */
  list(userId: string, clientId: string, page: PageRequest): Promise<Page<ConsentVersionEntity>> {
    return this.versions.list(userId, clientId, page);
  }

  /** The newest version of each consent that the user has ever given, by client id. */
  listNewest(userId: string, page: PageRequest): Promise<Page<ConsentVersionEntity>> {
    return this.versions.listNewest(userId, page);
  }

  /** The receipt of a version, signed now. */
  async receipt(version: VersionWithWords): Promise<SignedReceipt> {
    const { id: kid, privateKey } = await this.keys.signing();
    const receipt = receiptOf(version, this.settings.baseUrl, this.brand.current.name, new Date());
    const jws = await new FlattenedSign(Buffer.from(JSON.stringify(receipt)))
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'consent-receipt+jws' })
      .sign(privateKey);
    return { receipt, protected: jws.protected!, payload: jws.payload, signature: jws.signature };
  }
}
