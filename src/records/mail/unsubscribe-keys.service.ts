import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { isId } from '#platform/secrets/ids.js';
import { Signer } from '#platform/secrets/signer.js';
import { OPTIONAL_MAIL_KINDS } from './mail.entity.js';

const PREFIX = 'cds_un_';
const KEY = /^cds_un_([\w-]{1,160})\.([\w-]{43})$/;

const KINDS = [...OPTIONAL_MAIL_KINDS, 'client_contact'] as const;

/** What a key unsubscribes from: one kind of mail to a user, or all mail to a contact of a client. */
export interface Unsubscription {
  kind: (typeof KINDS)[number];
  /** Of the user or the contact. */
  id: string;
}

/** What a key says that was made here. */
export interface OpenedKey extends Unsubscription {
  /** Whether the key was made for this address of the user or the contact. */
  isFor(address: string): boolean;
}

/**
 * Keys that switch off mails of one kind to one address. A key is signed, not stored, so it works as long as the user or contact
 * has this address. It can do nothing else, because everyone who sees the mail has it. Its signature can be checked without knowing the
 * address, of which it has only a keyed tag, so nobody is looked up for a key that was not made here.
 */
@Injectable()
export class UnsubscribeKeys {
  private readonly signer: Signer;

  constructor(settings: Settings) {
    this.signer = new Signer('unsubscribing', settings.encryptionKeys);
  }

  make({ kind, id }: Unsubscription, address: string): string {
    const tag = this.signer.sign(taggedOf(id, address));
    const claim = Buffer.from(`${kind} ${id} ${tag}`).toString('base64url');
    return `${PREFIX}${claim}.${this.signer.sign(claim)}`;
  }

  /** The contents of the key; undefined if it was not made here. */
  open(key: string): OpenedKey | undefined {
    const [, claim = '', signature = ''] = KEY.exec(key) ?? [];
    if (!this.signer.verify(claim, signature)) return undefined;
    const [kind, id = '', tag = ''] = Buffer.from(claim, 'base64url').toString().split(' ');
    const known = KINDS.find((each) => each === kind);
    if (known === undefined || !isId(known === 'client_contact' ? 'cont' : 'user', id)) return undefined;
    return { kind: known, id, isFor: (address) => this.signer.verify(taggedOf(id, address), tag) };
  }
}

const taggedOf = (id: string, address: string): string => `address ${id} ${address}`;
