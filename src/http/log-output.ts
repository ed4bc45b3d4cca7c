import { destination, symbols, type DestinationStream } from 'pino';

const PIECE_BYTES = 8_192;
const AT_MOST_MS = 100;
const WARN = 40;

/**
 * Standard output, written in pieces: what requests say goes out after a tenth of a second at the latest, or together
 * with much else; a warning or an error goes out at once with all before it, and so does the rest when the process ends.
 */
export function logOutput(): DestinationStream {
  const output = destination({
    dest: 1,
    sync: true,
    minLength: PIECE_BYTES,
    periodicFlush: AT_MOST_MS,
  });
  process.on('exit', () => output.flushSync());
  const stream = {
    [symbols.needsMetadataGsym]: true as const,
    // Set by pino before it writes.
    lastLevel: 0,
    write(line: string) {
      output.write(line);
      if (stream.lastLevel >= WARN) output.flushSync();
    },
  };
  return stream;
}
