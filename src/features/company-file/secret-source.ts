import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { badRequest } from '#platform/http/problems/problem.js';
import { newUlid } from '#platform/secrets/ids.js';
import { newSecret } from '#platform/secrets/tokens.js';
import type { ClientEntry } from './company-sections.js';

// As long as it takes that nobody guesses it; those of the service have 56.
const SECRET = /^[\x21-\x7e]{32,200}$/;

type Source = NonNullable<ClientEntry['secret']>;

/** Where the secrets of a company file come from: the environment, and files next to it. No error has a secret in it. */
export class SecretSource {
  constructor(
    /** Relative paths are relative to it. */
    private readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** The secret that is referred to; undefined where one may be generated. Throws a 400 problem. */
  given({ env, file, generate }: Source): string | undefined {
    if ([env, file, generate].filter((each) => each !== undefined).length !== 1) {
      throw badRequest('must have one of env, file and generate');
    }
    if (generate !== undefined) return undefined;
    const text = env === undefined ? this.read(file!) : this.environment[env];
    if (text === undefined) throw badRequest(`${env ?? file} is not there, or cannot be read`);
    return checked(text, env ?? file!);
  }

  /** A new secret, written to a file that only its owner can read; the one that is in it, if there is one. */
  generated(name: string): string {
    const file = path.resolve(this.folder, name);
    // Whole or not at all, and never over another one: the name appears when everything is written.
    const unfinished = `${file}.${newUlid()}`;
    try {
      writeFileSync(unfinished, `${newSecret('clientSecret')}\n`, { flag: 'wx', mode: 0o600, flush: true });
      linkSync(unfinished, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw badRequest(`${name} cannot be written: ${(error as Error).message}`);
      }
    } finally {
      rmSync(unfinished, { force: true });
    }
    const text = this.read(name);
    if (text === undefined) throw badRequest(`${name} cannot be read`);
    return checked(text, name);
  }

  private read(name: string): string | undefined {
    try {
      return readFileSync(path.resolve(this.folder, name), 'utf8').replace(/\r?\n$/, '');
    } catch {
      return undefined;
    }
  }
}

function checked(text: string, name: string): string {
  if (SECRET.test(text)) return text;
  throw badRequest(`${name} must have a secret of 32 to 200 visible ASCII characters without spaces`);
}
