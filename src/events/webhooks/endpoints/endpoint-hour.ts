/** An endpoint's attempts in one hour. */
export interface EndpointHour {
  hour: Date;
  delivered: number;
  failed: number;
  averageMs: number;
  slowestMs: number;
}

/** The attempts of all endpoints in one hour. */
export interface HourlyAttempts {
  hour: Date;
  delivered: number;
  failed: number;
}
