import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** A consent that was given or changed (`granted`), or taken back; with the scopes that it has now. */
export interface ConsentChange {
  kind: 'granted' | 'revoked';
  clientId: string;
  userId: string;
  scopes: string[];
}

type Listener = (manager: EntityManager, change: ConsentChange) => Promise<void>;

/** The port by which a change of a consent becomes an event to deliver, in the transaction of the change. */
@Injectable()
export class ConsentEvents {
  private readonly listeners: Listener[] = [];

  /** Called once by whoever wants to know. */
  add(listener: Listener): void {
    this.listeners.push(listener);
  }

  async tell(manager: EntityManager, change: ConsentChange): Promise<void> {
    for (const listener of this.listeners) await listener(manager, change);
  }
}
