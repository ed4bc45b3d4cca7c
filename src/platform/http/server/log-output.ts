import { destination, symbols, type DestinationStream } from 'pino';

const PIECE_BYTES = 8_192;
const AT_MOST_MS = 100;
const WARN = 40;

/**
 * Standard output, written in chunks: ordinary lines are written after at most a tenth of a second, or together with many others.
 * A warning or error is written immediately with everything before it, and so is the rest when the process exits.
 */
export function logOutput(): DestinationStream {
  const output = destination({ dest: 1, sync: true, minLength: PIECE_BYTES });
  let flushing: NodeJS.Timeout | undefined;
  const flush = () => {
    flushing = undefined;
    output.flush();
  };
  process.on('exit', () => output.flushSync());
  const stream = {
    [symbols.needsMetadataGsym]: true as const,
    // Set by pino before it writes.
    lastLevel: 0,
    write(line: string) {
      output.write(line);
      if (stream.lastLevel >= WARN) output.flushSync();
      // Started by a line, so that an idle instance is not woken up.
      else flushing ??= setTimeout(flush, AT_MOST_MS).unref();
    },
  };
  return stream;
}
