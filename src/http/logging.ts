import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Level, type Logger, type LoggerOptions } from 'pino';
import type { FastifyRequest } from 'fastify';
import { logFields, type LogFields } from '../telemetry/log-scope.js';

/**
 * The service's log: JSON lines. A request is named by its method and route pattern, never by its
 * URL, headers or body, so that no token, code, key or cookie can reach a line.
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

/** An error's name, code, message and stack; not the other members, where drivers keep a query's parameters. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: 'something that is no Error was thrown' };
  const { code } = error as { code?: unknown };
  return { type: error.name, message: error.message, stack: error.stack, ...(code ? { code } : {}) };
}

function describeRequest(request: FastifyRequest): Record<string, unknown> {
  return { method: request.method, route: request.routeOptions?.url, address: request.ip };
}

/** Whose lines at every start nobody needs to read. */
const FRAMEWORK = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** A line that brings its own fields, whether or not there is a scope to take them from. */
export interface Line {
  text: string;
  fields: LogFields;
}

const isLine = (message: unknown): message is Line =>
  typeof message === 'object' && message !== null && 'text' in message && 'fields' in message;

/** The lines of Nest and of the services, written through the same log with what they are written in the course of. */
export class NestLog implements LoggerService {
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
    const fields = { context, ...logFields() };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else if (isLine(message)) this.logger[level]({ ...fields, ...message.fields }, message.text);
    else this.logger[level](fields, String(message));
  }
}
