/** As many as one report may have (contract §26 of the service). */
const MOST_IN_BATCH = 300;
const MOST_REQUESTS = 1_000_000;
const DAY_MS = 86_400_000;

/** How often data of a user that one scope covers was served to a client on a day. */
export interface CountedDisclosure {
  client_id: string;
  user_id: string;
  scope: string;
  requests: number;
  /** `YYYY-MM-DD` in UTC. */
  day: string;
}

/** What was served, by client, user, scope and day: at most so many different ones. */
export class DisclosureCounts {
  private readonly counts = new Map<string, CountedDisclosure>();
  private day = { number: NaN, text: '' };

  constructor(private readonly most: number) {}

  get size(): number {
    return this.counts.size;
  }

  /** Counts once; false if there are too many different ones to count another. */
  add(clientId: string, userId: string, scope: string): boolean {
    const day = this.today();
    const key = `${day} ${clientId} ${userId} ${scope}`;
    const known = this.counts.get(key);
    if (known) known.requests++;
    else if (this.counts.size >= this.most) return false;
    else this.counts.set(key, { client_id: clientId, user_id: userId, scope, requests: 1, day });
    return true;
  }

  /** Takes those for one report out, the oldest first; of one day, because a day that is too old has the whole report refused. */
  take(): CountedDisclosure[] {
    const taken: CountedDisclosure[] = [];
    for (const [key, counted] of this.counts) {
      if (taken.length === MOST_IN_BATCH || (taken.length > 0 && counted.day !== taken[0]!.day)) break;
      const requests = Math.min(counted.requests, MOST_REQUESTS);
      taken.push({ ...counted, requests });
      counted.requests -= requests;
      if (counted.requests === 0) this.counts.delete(key);
    }
    return taken;
  }

  private today(): string {
    const number = Math.floor(Date.now() / DAY_MS);
    if (number !== this.day.number)
      this.day = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) };
    return this.day.text;
  }
}
