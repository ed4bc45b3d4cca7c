import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { FastifyRequest } from 'fastify';

/**
 * The service's log: JSON lines on standard output, or where the tests want them. A request is named by its method and route pattern, never by its
 * URL, headers or body, so that no token, code, key or cookie can reach a line.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError, req: describeRequest, res: () => undefined },
  };
  return destination ? pino(options, destination) : pino(options);
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

/** Nest's own lines, written through the same log. */
export class NestLog implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    const level = FRAMEWORK.has(context ?? '') ? 'debug' : 'info';
    this.logger[level]({ context }, String(message));
  }
  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }
  error(message: unknown, _stack?: string, context?: string): void {
    this.logger.error({ context }, String(message));
  }
}
