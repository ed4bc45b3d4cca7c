import type { Type } from '@nestjs/common';
import type { DataSource } from 'typeorm';

/** What the demonstration adds to a start. It is implemented in demo/, which is only loaded for it. */
export interface Demonstration {
  /** The URL of its embedded PostgreSQL. */
  databaseUrl: string;
  /** The routes that only it has. */
  module: Type;
  /** Inserts its users, clients and traffic into the database, if they are not there yet. */
  seed(dataSource: DataSource): Promise<void>;
  /** The text it prints once the service listens: URLs, credentials, and commands to paste. */
  banner(): string;
  /** Stops its PostgreSQL. */
  stop(): Promise<void>;
}
