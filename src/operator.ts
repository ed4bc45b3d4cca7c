import { print } from '#entrypoints/cli/output.js';
import { runOperatorTool } from '#start/operator-tool.js';

// Told to whoever prints; without a listener it would end the process with a stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
const code = await runOperatorTool(process.argv.slice(2), process.env);
// What was printed beside the result. If nobody reads that any more, the result says what happened.
await print('', 'stderr').catch(() => undefined);
// Ends what a command has given up, too, such as a migration whose lock was lost.
process.exit(code);
