/** An entry of a log as OpenTelemetry has it; its attributes by the semantic conventions where there are some. */
export interface LogEntry {
  /** Says what attributes it has. */
  event: string;
  at: Date;
  severity: 'INFO' | 'WARN' | 'ERROR';
  body: string;
  /** Null where something is not known: left out. */
  attributes: Record<string, unknown>;
}

/** Entries of logs as they are sent over OTLP. */
export interface LogExport {
  /** False if the collector does not have them. */
  send(entries: readonly LogEntry[]): Promise<boolean>;
  /** What is being sent counts as not sent from now on. */
  giveUp(): void;
  stop(): Promise<void>;
}
