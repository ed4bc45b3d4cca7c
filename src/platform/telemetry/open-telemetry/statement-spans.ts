import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { createRequire } from 'node:module';

/**
 * Creates a span for each database statement of a traced request: its text, never its parameters. The driver is CommonJS, so
 * there is one copy of it in the process: requiring it again allows patching it in place, without loader hooks.
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
