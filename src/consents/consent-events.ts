import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** A consent that was given or changed (`granted`), or revoked; with its scopes after the change. */
export interface ConsentChange {
  kind: 'granted' | 'revoked';
  clientId: string;
  userId: string;
  scopes: string[];
}

type Listener = (manager: EntityManager, changes: ConsentChange[]) => Promise<void>;

/** The port through which changes of consents become events to deliver, in the same transaction. */
@Injectable()
export class ConsentEvents {
  private readonly listeners: Listener[] = [];

  /** Called once by each listener. */
  add(listener: Listener): void {
    this.listeners.push(listener);
  }

  async tell(manager: EntityManager, changes: ConsentChange[]): Promise<void> {
    for (const listener of this.listeners) await listener(manager, changes);
  }
}
