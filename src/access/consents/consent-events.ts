import { Injectable } from '@nestjs/common';

/**
 * A change of a consent: given or extended by scopes (`granted`), reduced or renewed (`changed`), withdrawn (`revoked`), over
 * (`expired`), or about to expire (`expiring`). With its scopes and its end after the change.
 */
export interface ConsentChange {
  kind: 'granted' | 'changed' | 'revoked' | 'expiring' | 'expired';
  clientId: string;
  userId: string;
  scopes: string[];
  expiresAt: Date | null;
  /** The request that caused it, if one did. */
  requestId?: string;
}

type Listener = (changes: ConsentChange[]) => Promise<void>;

/** The port through which changes of consents become events to deliver, in the same transaction. */
@Injectable()
export class ConsentEvents {
  private readonly listeners: Listener[] = [];

  /** Called once by each listener. */
  add(listener: Listener): void {
    this.listeners.push(listener);
  }

  async tell(changes: ConsentChange[]): Promise<void> {
    for (const listener of this.listeners) await listener(changes);
  }
}
