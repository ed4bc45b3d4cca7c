/** What a client read of a user's data on one day, of one kind. */
export interface DisclosedKind {
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** The name of a scope, or `ACCOUNT_DATA`. */
  scope: string;
  /** The words of the catalogue for the scope; null for `ACCOUNT_DATA`. */
  description: string | null;
  /** How often the client asked for it, and how often it was sent some. */
  requests: number;
  deliveries: number;
}

/** What a client read of a user's data, newest day first. */
export interface DisclosureHistory {
  client: { id: string; name: string };
  /** When it was disconnected; null while it is connected. */
  endedAt: Date | null;
  kinds: DisclosedKind[];
}

/** A client that a user no longer shares data with, and that has read some. */
export interface FormerClient {
  id: string;
  name: string;
  endedAt: Date;
}

/** The kind of data in a few words: the beginning of the scope's description, as the user agreed to it, in any language. */
export function beginningOf(description: string): string {
  const beginning = description.split(':', 1)[0]!.trim();
  return beginning.charAt(0).toUpperCase() + beginning.slice(1);
}
