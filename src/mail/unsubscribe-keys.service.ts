import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Signer } from '../secrets/signer.js';
import { OPTIONAL_MAIL_KINDS } from './mail.entity.js';

const PREFIX = 'cds_un_';
const KEY = /^cds_un_([\w-]{1,120})\.([\w-]{43})$/;

const KINDS = [...OPTIONAL_MAIL_KINDS, 'client_contact'] as const;

/** What a key switches off: one kind of mail to a user, or all mail to a contact of a client. */
export interface Unsubscription {
  kind: (typeof KINDS)[number];
  /** Of the user or the contact. */
  id: string;
}

/**
 * Keys that switch off mails of one kind to one address. A key is signed and not stored, so it works for as long as the user or the
 * contact has this address; and it can do nothing else, because anyone who reads the mail holds it.
 */
@Injectable()
export class UnsubscribeKeys {
  private readonly signer: Signer;

  constructor(settings: Settings) {
    this.signer = new Signer('unsubscribing', settings.encryptionKeys);
  }

  make({ kind, id }: Unsubscription, address: string): string {
    const claim = Buffer.from(`${kind} ${id}`).toString('base64url');
    return `${PREFIX}${claim}.${this.signer.sign(`${kind} ${id} ${address}`)}`;
  }

  /** What the key claims; undefined if it is malformed. */
  claimOf(key: string): Unsubscription | undefined {
    const [, claim] = KEY.exec(key) ?? [];
    const [kind, id] = Buffer.from(claim ?? '', 'base64url')
      .toString()
      .split(' ');
    const known = KINDS.find((each) => each === kind);
    return known && id ? { kind: known, id } : undefined;
  }

  /** Whether the key was made for what it claims and this address. */
  isRight(key: string, { kind, id }: Unsubscription, address: string): boolean {
    return this.signer.verify(`${kind} ${id} ${address}`, KEY.exec(key)?.[2] ?? '');
  }
}
