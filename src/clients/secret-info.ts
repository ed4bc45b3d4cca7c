/** What may be shown of a secret: when it was created, when it expires, and when it was last used. */
export interface SecretInfo {
  /** Identifies it among the client's secrets; reveals only when it was created. */
  name: string;
  createdAt: Date;
  /** Null: never, until it is rotated. */
  expiresAt: Date | null;
  isExpired: boolean;
  /** To the hour; null if it was not used, or not since this is recorded. */
  lastUsedAt: Date | null;
}
