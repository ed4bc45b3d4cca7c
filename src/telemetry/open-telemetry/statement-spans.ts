import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { createRequire } from 'node:module';

/**
 * Makes a span of each statement to the database that is sent in the course of a traced request: its text, never its parameters.
 * The driver is CommonJS and one object in this process, whoever imports it: it is changed in its place by being required
 * once more, with no loader hooks.
 */
export function traceStatements(): void {
  const instrumentation = new PgInstrumentation({
    requireParentSpan: true,
    ignoreConnectSpans: true,
    enhancedDatabaseReporting: false,
  });
  instrumentation.enable();
  createRequire(import.meta.url)('pg');
}
