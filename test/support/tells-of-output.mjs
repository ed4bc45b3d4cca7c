// Loaded with --import: writes a byte to file descriptor 3 when the process prints something, whether or not anybody reads that yet.
import { writeSync } from 'node:fs';

for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  stream.write = (...given) => {
    writeSync(3, '.');
    return write(...given);
  };
}
