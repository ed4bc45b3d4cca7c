import type { FastifyBaseLogger } from 'fastify';

type Bindings = Parameters<FastifyBaseLogger['child']>[0];
type Options = Parameters<FastifyBaseLogger['child']>[1];
type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/**
 * The logger of one request, whose lines carry its id. pino takes longer to make one than to write a line, and hardly any request
 * needs one, so it is made for the first line (docs/decisions/0008-what-a-request-leaves-behind.md).
 */
class RequestLogger {
  private made: FastifyBaseLogger | undefined;

  constructor(
    private readonly parent: FastifyBaseLogger,
    private readonly bindings: Bindings,
    private readonly options: Options,
  ) {}

  get level(): string {
    return this.own.level;
  }

  fatal(...line: unknown[]): void {
    this.write('fatal', line);
  }
  error(...line: unknown[]): void {
    this.write('error', line);
  }
  warn(...line: unknown[]): void {
    this.write('warn', line);
  }
  info(...line: unknown[]): void {
    this.write('info', line);
  }
  debug(...line: unknown[]): void {
    this.write('debug', line);
  }
  trace(...line: unknown[]): void {
    this.write('trace', line);
  }
  silent(...line: unknown[]): void {
    this.write('silent', line);
  }

  child(bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.own.child(bindings, options);
  }

  private get own(): FastifyBaseLogger {
    return (this.made ??= this.parent.child(this.bindings, this.options));
  }

  private write(level: Level, line: unknown[]): void {
    (this.own[level] as (...line: unknown[]) => void)(...line);
  }
}

/** Makes the logger of a request, for Fastify. */
export const requestLogger = (
  parent: FastifyBaseLogger,
  bindings: Bindings,
  options: Options = {},
): FastifyBaseLogger =>
  // Its methods take whatever pino's take, which has many overloads.
  new RequestLogger(parent, bindings, options) as FastifyBaseLogger;
