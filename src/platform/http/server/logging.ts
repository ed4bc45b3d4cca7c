import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Level, type Logger, type LoggerOptions } from 'pino';
import type { FastifyRequest } from 'fastify';
import { logFields, type LogFields } from '#platform/telemetry/log-scope.js';
import { RepeatedLines } from './repeated-lines.js';

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
