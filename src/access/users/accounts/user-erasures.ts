import { Injectable } from '@nestjs/common';

/** What else may stand in rows that do not name the account: every email address it had, and the IP addresses that are stored of it. */
export interface PersonTraces {
  emails: string[];
  addresses: string[];
}

/**
 * What a module does when a user is erased. The audit log keeps only ids. Runs in the transaction of the erasure, which locks the
 * user's row exclusively, so that nothing new about the user is added in the meantime.
 */
export type UserErasure = (userId: string, traces: PersonTraces) => Promise<Record<string, unknown>>;

/** A reason why people cannot delete their own account yet. */
export type ErasureObstacle = 'operator' | 'owns_clients';

type FindObstacle = (userId: string) => Promise<ErasureObstacle | undefined>;

/** The port through which higher modules take part in the erasure of a user, before the account and everything else is deleted. */
@Injectable()
export class UserErasures {
  private readonly parts: UserErasure[] = [];
  private readonly obstacles: FindObstacle[] = [];

  /** Called once by each module that takes part. */
  add(part: UserErasure): void {
    this.parts.push(part);
  }

  /** Called once by each module whose rows can prevent an erasure. */
  addObstacle(find: FindObstacle): void {
    this.obstacles.push(find);
  }

  /** Runs all parts; returns what the audit log keeps. */
  async run(userId: string, traces: PersonTraces): Promise<Record<string, unknown>> {
    const kept: Record<string, unknown> = {};
    for (const part of this.parts) Object.assign(kept, await part(userId, traces));
    return kept;
  }

  /** The first thing that prevents the erasure; no new one appears while the caller holds the lock on the user. */
  async obstacleTo(userId: string): Promise<ErasureObstacle | undefined> {
    for (const find of this.obstacles) {
      const obstacle = await find(userId);
      if (obstacle) return obstacle;
    }
    return undefined;
  }
}
