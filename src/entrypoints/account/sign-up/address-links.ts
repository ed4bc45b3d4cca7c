import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';

/** One kind of links that verify an address. */
interface KindOfLink {
  /** The address; undefined for a link that does not work. */
  find(key: string): Promise<string | undefined>;
  /** False for a link that no longer works. */
  confirm(key: string, actor: Actor): Promise<boolean>;
}

/** The links of `/email/verify/{key}`: those of users, and the port through which features add their own. */
@Injectable()
export class AddressLinks {
  private readonly kinds: KindOfLink[];

  constructor(ofUsers: EmailVerificationService) {
    this.kinds = [ofUsers];
  }

  add(kind: KindOfLink): void {
    this.kinds.push(kind);
  }

  /** The address that the link verifies; undefined for one that does not work. */
  async find(key: string): Promise<string | undefined> {
    for (const kind of this.kinds) {
      const address = await kind.find(key);
      if (address !== undefined) return address;
    }
    return undefined;
  }

  /** Verifies an address by its link; false for one that no longer works. */
  async confirm(key: string, actor: Actor): Promise<boolean> {
    for (const kind of this.kinds) if (await kind.confirm(key, actor)) return true;
    return false;
  }
}
