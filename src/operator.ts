import { runCommand } from './cli/run-command.js';

// Ends what a command has given up too, such as a migration whose lock was lost.
process.exit(await runCommand(process.argv.slice(2), process.env));
