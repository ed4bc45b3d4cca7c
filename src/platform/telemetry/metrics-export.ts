/** The metrics as they are sent over OTLP. */
export interface MetricsExport {
  /** Sends them once more; takes a second at most. */
  stop(): Promise<void>;
}
