/** A registered key of a client, and when it was last used. */
export interface KeyInfo {
  /** Identifies it among the keys of the client: its SHA-256 thumbprint (RFC 7638) in base64url. */
  thumbprint: string;
  /** As its owner calls it. */
  kid: string | undefined;
  /** What it signs with. */
  algorithm: string;
  /** To the hour; null if no use was recorded. */
  lastUsedAt: Date | null;
}
