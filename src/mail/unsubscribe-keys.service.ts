import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Signer } from '../secrets/signer.js';
import { OPTIONAL_MAIL_KINDS } from './mail.entity.js';

const PREFIX = 'cds_un_';
const KEY = /^cds_un_([\w-]{1,120})\.([\w-]{43})$/;

const KINDS = [...OPTIONAL_MAIL_KINDS, 'client_contact'] as const;

/** What a key unsubscribes from: one kind of mail to a user, or all mail to a contact of a client. */
export interface Unsubscription {
  kind: (typeof KINDS)[number];
  /** Of the user or the contact. */
  id: string;
}

/**
 * Keys that switch off mails of one kind to one address. A key is signed, not stored, so it works as long as the user or contact
 * has this address. It can do nothing else, because everyone who sees the mail has it.
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

  /** The contents of the key, not verified yet; undefined if it is malformed. */
  claimOf(key: string): Unsubscription | undefined {
    const [, claim] = KEY.exec(key) ?? [];
    const [kind, id] = Buffer.from(claim ?? '', 'base64url')
      .toString()
      .split(' ');
    const known = KINDS.find((each) => each === kind);
    return known && id ? { kind: known, id } : undefined;
  }

  /** Whether the key was issued with these contents for this address. */
  isRight(key: string, { kind, id }: Unsubscription, address: string): boolean {
    return this.signer.verify(`${kind} ${id} ${address}`, KEY.exec(key)?.[2] ?? '');
  }
}
