import { Injectable } from '@nestjs/common';
import { FlattenedSign } from 'jose';
import { ConsentRecordService } from '#access/consents/record/consent-record.service.js';
import { Settings } from '#platform/config/settings.js';
import { notFound } from '#platform/http/problems/problem.js';
import { say } from '#platform/language/text.js';
import { BrandService } from '#records/brand/brand.service.js';
import { ReceiptKeysService } from './receipt-keys.service.js';
import { receiptOf, type SignedReceipt } from './receipt.js';

/** The receipts of consents (docs/consent-receipts.md). */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly record: ConsentRecordService,
    private readonly keys: ReceiptKeysService,
    private readonly settings: Settings,
    private readonly brand: BrandService,
  ) {}

  /** The receipt of a version of a consent of this user, signed now; throws a 404 problem. */
  async get(userId: string, id: string): Promise<SignedReceipt> {
    const version = await this.record.find(userId, id);
    if (!version) throw notFound(say('There is no such receipt.'));
    const { id: kid, privateKey } = await this.keys.signing();
    const receipt = receiptOf(version, this.settings.baseUrl, this.brand.current.name, new Date());
    const jws = await new FlattenedSign(Buffer.from(JSON.stringify(receipt)))
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'consent-receipt+jws' })
      .sign(privateKey);
    return { receipt, protected: jws.protected!, payload: jws.payload, signature: jws.signature };
  }
}
