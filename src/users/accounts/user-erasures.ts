import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/**
 * What a module does when a user is erased, and what the audit log keeps of it: only ids. Runs in the transaction of the erasure,
 * which locks the user's row exclusively, so that nothing new about the user is added in the meantime.
 */
export type UserErasure = (manager: EntityManager, userId: string) => Promise<Record<string, unknown>>;

/** The port through which higher modules take part in the erasure of a user, before the account and everything else is deleted. */
@Injectable()
export class UserErasures {
  private readonly parts: UserErasure[] = [];

  /** Called once by each module that takes part. */
  add(part: UserErasure): void {
    this.parts.push(part);
  }

  /** What the audit log keeps, of all parts together. */
  async run(manager: EntityManager, userId: string): Promise<Record<string, unknown>> {
    const kept: Record<string, unknown> = {};
    for (const part of this.parts) Object.assign(kept, await part(manager, userId));
    return kept;
  }
}
