import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Level, type Logger, type LoggerOptions } from 'pino';
import type { FastifyRequest } from 'fastify';
import { logFields, type LogFields } from '#platform/telemetry/log-scope.js';

/** How long repetitions of a written line are only counted. */
const SILENT_MS = 60_000;
/** Beyond this many different lines, each one is written. */
const MOST = 500;

/**
 * Log lines that repeat, for example while the database is unavailable: written once, and then counted for a minute at a time.
 */
class RepeatedLines {
  private readonly counts = new Map<string, number>();

  /** Whether to write the line now. `tell` is called after each minute with the number of lines that were not written, if any. */
  isNew(line: string, tell: (count: number) => void): boolean {
    const count = this.counts.get(line);
    if (count !== undefined) {
      this.counts.set(line, count + 1);
      return false;
    }
    if (this.counts.size < MOST) this.silence(line, tell);
    return true;
  }

  private silence(line: string, tell: (count: number) => void): void {
    this.counts.set(line, 0);
    setTimeout(() => {
      const count = this.counts.get(line)!;
      this.counts.delete(line);
      if (count === 0) return;
      this.silence(line, tell);
      tell(count);
    }, SILENT_MS).unref();
  }
}

/**
 * The log of the service: JSON lines. A request is identified by its method and route pattern, never by its URL, headers or body,
 * so that no token, code, key or cookie gets into the log.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError, req: describeRequest, res: () => undefined },
  };
  return pino(options, destination);
}

/** An error's name, code, message and stack; not its other members, where drivers keep query parameters. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: 'a value that is not an Error was thrown' };
  const { code } = error as { code?: unknown };
  return { type: error.name, message: error.message, stack: error.stack, ...(code ? { code } : {}) };
}

function describeRequest(request: FastifyRequest): Record<string, unknown> {
  return { method: request.method, route: request.routeOptions?.url, address: request.ip };
}

/** Contexts whose start-up lines are left out. */
const FRAMEWORK = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** A line with fields of its own, independent of the current log scope. */
export interface Line {
  text: string;
  fields: LogFields;
}

const isLine = (message: unknown): message is Line =>
  typeof message === 'object' && message !== null && 'text' in message && 'fields' in message;

const REPEATING: ReadonlySet<Level> = new Set(['warn', 'error']);

/** Writes the lines of Nest and of the services to the same log, with the fields of the current scope. */
export class NestLog implements LoggerService {
  private readonly repeated = new RepeatedLines();

  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.write(FRAMEWORK.has(context ?? '') ? 'debug' : 'info', message, context);
  }
  debug(message: unknown, context?: string): void {
    this.write('debug', message, context);
  }
  verbose(message: unknown, context?: string): void {
    this.write('trace', message, context);
  }
  warn(message: unknown, context?: string): void {
    this.write('warn', message, context);
  }
  error(message: unknown, _stack?: string, context?: string): void {
    this.write('error', message, context);
  }
  fatal(message: unknown, context?: string): void {
    this.write('fatal', message, context);
  }

  private write(level: Level, message: unknown, context: string | undefined): void {
    const scope = logFields();
    const fields = { context, ...scope };
    if (REPEATING.has(level) && scope === undefined && !this.isNew(level, message, context)) return;
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else if (isLine(message)) this.logger[level]({ ...fields, ...message.fields }, message.text);
    else this.logger[level](fields, String(message));
  }

  /** Background work repeats the same line while something is broken. */
  private isNew(level: Level, message: unknown, context: string | undefined): boolean {
    if (isLine(message)) return true;
    const text = message instanceof Error ? message.message : String(message);
    return this.repeated.isNew(`${level} ${context} ${text}`, (count) =>
      this.logger[level]({ context, repeated: count }, `${text} (${count} more times in the last minute)`),
    );
  }
}
