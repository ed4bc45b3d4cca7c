/** Whom a change is about: a client, a user, or the two together; neither: everybody. */
export interface Change {
  clientId?: string;
  userId?: string;
}

/** Whom an answer is about: the client of the token, and every user whose consent it depends on. */
export interface Subjects {
  clientId: string;
  userIds: readonly string[];
}

/** Whether a change may have made an answer wrong. */
export const concerns = (change: Change, { clientId, userIds }: Subjects): boolean =>
  (change.clientId === undefined || change.clientId === clientId) &&
  (change.userId === undefined || userIds.includes(change.userId));

const MOST = 1_000;

/**
 * The changes that arrived lately, for answers that were under way in the meantime: whom they are about is known only once they are
 * there. Of more than a thousand the oldest count as changes of everything.
 */
export class RecentChanges {
  private recent: { at: number; change: Change }[] = [];
  private everythingAt = -Infinity;

  /** `keptMs`: how long an answer can be under way. Times are of a monotonic clock, in milliseconds. */
  constructor(private readonly keptMs: number) {}

  add(change: Change, at: number): void {
    this.recent.push({ at, change });
    const old = this.recent.findIndex((each) => each.at > at - this.keptMs);
    const dropped = Math.max(old, this.recent.length - MOST);
    if (dropped <= 0) return;
    this.everythingAt = Math.max(this.everythingAt, this.recent[dropped - 1]!.at);
    this.recent.splice(0, dropped);
  }

  /** Whether anything has changed since, up to a later time if one is given. */
  hasAnySince(time: number, until = Infinity): boolean {
    const last = this.recent.findLast(({ at }) => at <= until);
    return this.everythingAt > time || (last?.at ?? -Infinity) > time;
  }

  /** Whether something that concerns them has changed since. */
  concern(subjects: Subjects, time: number): boolean {
    if (this.everythingAt > time) return true;
    return this.recent.some(({ at, change }) => at > time && concerns(change, subjects));
  }
}
