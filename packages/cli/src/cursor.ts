import { readFile } from 'node:fs/promises';
import { UsageError, type ServiceOptions } from './options.js';
import { replaceFile } from './private-file.js';
import { FatalError } from './service.js';

/** How far a feed was passed on, in a file. It is of one client of one service. */
export class Cursor {
  private constructor(
    private readonly path: string,
    private readonly of: { url: string; client_id: string },
    /** Undefined at first. */
    public after: string | undefined,
  ) {}

  /** Throws a UsageError if the file cannot be read, or is of another client or service. */
  static async open(path: string, { url, clientId }: ServiceOptions): Promise<Cursor> {
    const of = { url, client_id: clientId };
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new UsageError(`--cursor: ${path} cannot be read: ${error.code}`);
    });
    if (text === undefined) return new Cursor(path, of, undefined);
    const { after, ...found } = membersOf(text);
    if (typeof after !== 'string') throw new UsageError(`--cursor: ${path} holds no position.`);
    if (found.url !== of.url || found.client_id !== of.client_id)
      throw new UsageError(`--cursor: ${path} is of another client or service.`);
    return new Cursor(path, of, after);
  }

  async moveTo(after: string): Promise<void> {
    if (after === this.after) return;
    try {
      await replaceFile(this.path, `${JSON.stringify({ ...this.of, after })}\n`);
    } catch (error) {
      throw new FatalError(`${this.path} cannot be written: ${(error as Error).message}`);
    }
    this.after = after;
  }
}

function membersOf(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
