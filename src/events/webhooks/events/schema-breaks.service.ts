import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import { Settings } from '#platform/config/settings.js';
import type { SchemaBreak } from '../event-types/event-schema.js';

const TELL_EVERY_MS = 60_000;
const TOLD = 1_000;

/** Counts and logs accepted events whose data breaks its schema. Labels only contain types of the catalogue. */
const breaksCounter = new Counter({
  name: 'event_schema_breaks_total',
  help: 'Accepted events whose data breaks the schema of its version, by type',
  labelNames: ['type', 'version'] as const,
});

/** What happens to data that breaks its schema (contract §21): it is refused, or accepted, counted and logged. */
@Injectable()
export class SchemaBreaks {
  private readonly logger = new Logger(SchemaBreaks.name);
  private readonly told = new LRUCache<string, true>({ max: TOLD, ttl: TELL_EVERY_MS });

  constructor(private readonly settings: Settings) {}

  get areRefused(): boolean {
    return this.settings.eventSchemaCheck === 'refuse';
  }

  /** Counts it, and logs each kind once a minute: type, version and path, never a value. */
  note(type: string, version: number, { path }: SchemaBreak): void {
    breaksCounter.inc({ type, version });
    const kind = `${type}, version ${version}, at ${path}`;
    if (this.told.has(kind)) return;
    this.told.set(kind, true);
    this.logger.warn(`The data of an event breaks its schema: ${kind}`);
  }
}
