/** The public facts about a secret: when it was created, when it expires, and when it was last used. */
export interface SecretInfo {
  /** Identifies it among the client's secrets by its creation time. */
  name: string;
  createdAt: Date;
  /** Null until it is rotated: it does not expire. */
  expiresAt: Date | null;
  isExpired: boolean;
  /** To the hour; null if no use was recorded. */
  lastUsedAt: Date | null;
}
