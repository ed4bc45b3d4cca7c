/** What may be shown of a secret: when it was created and when it expires. */
export interface SecretInfo {
  createdAt: Date;
  /** Null: never, until it is rotated. */
  expiresAt: Date | null;
  isExpired: boolean;
}
