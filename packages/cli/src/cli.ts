import { forward } from './forward.js';
import { legible } from './legible.js';
import { listen } from './listen.js';
import { HELP, readOptions, UsageError } from './options.js';
import { FatalError } from './service.js';

/** Where the program writes to, and what ends it. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  out: (text: string) => void;
  /** The same, but known to have been written once it resolves. */
  write: (text: string) => Promise<void>;
  error: (text: string) => void;
  stop: AbortSignal;
}

/** Runs the program; returns its exit code. */
export async function run(args: string[], { env, out, write, error, stop }: Surroundings): Promise<number> {
  try {
    const options = readOptions(args, env);
    if (!options) {
      out(HELP);
      return 0;
    }
    // What `forward` writes to standard output are events.
    if (options.command === 'forward')
      await forward(options, { write, print: (line) => error(`${line}\n`) }, stop);
    else await listen(options, (line) => out(`${line}\n`), stop);
    return 0;
  } catch (problem) {
    if (problem instanceof UsageError) {
      error(`${problem.message}\nSee charging-data --help.\n`);
      return 2;
    }
    if (!(problem instanceof FatalError)) throw problem;
    error(`Stopped: ${legible(problem.message)}\n`);
    return 1;
  }
}
