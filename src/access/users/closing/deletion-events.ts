import { Injectable } from '@nestjs/common';

/** That a user asked for the deletion of the account, and when it is due; or that the account stays after all. */
export type DeletionChange = { userId: string; requestId?: string } & (
  | { kind: 'requested'; dueAt: Date }
  | { kind: 'cancelled' }
);

type Listener = (change: DeletionChange) => Promise<void>;

/** The port through which higher modules are told of deletions that users ask for, in the same transaction. */
@Injectable()
export class DeletionEvents {
  private readonly listeners: Listener[] = [];

  /** Called once by each listener. */
  add(listener: Listener): void {
    this.listeners.push(listener);
  }

  async tell(change: DeletionChange): Promise<void> {
    for (const listener of this.listeners) await listener(change);
  }
}
