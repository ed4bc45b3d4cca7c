/** What became of a request. */
export interface RateLimitDecision {
  allowed: boolean;
  /** How many more would be allowed now. */
  remaining: number;
  /** 0 when allowed; else after this many milliseconds a request is allowed. */
  retryAfterMs: number;
}

export interface RateLimitStore {
  consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision>;
  giveBack(key: string, windowMs: number): Promise<void>;
  clear(key: string): Promise<void>;
}
