import { parseArgs } from 'node:util';
import type { Options } from './actions.js';
import type { Command } from './command.js';
import { COMMANDS, DATABASE_COMMANDS } from './commands.js';

export type CommandName = keyof typeof COMMANDS | keyof typeof DATABASE_COMMANDS;

const ALL: Record<CommandName, Command> = { ...DATABASE_COMMANDS, ...COMMANDS };
const isCommand = (name = ''): name is CommandName => Object.hasOwn(ALL, name);

/** What was asked for; the error is what to print instead. */
export type Request = { name: CommandName; argument: string; options: Options } | { error: string };

/** The commands with what they take. */
const HELP = [
  'Usage: npm run operator -- COMMAND',
  '',
  ...Object.entries(ALL).map(
    ([name, { usage, summary }]) => `  ${`${name} ${usage}`.trim()}\n      ${summary}`,
  ),
  '',
  'The settings are those of the service; DATABASE_URL is required.',
].join('\n');

/** Reads a command line; refuses what it does not know. */
export function readArguments(args: string[]): Request {
  const [name, ...rest] = args;
  if (!isCommand(name)) return { error: HELP };
  const command = ALL[name];
  const usage = `Usage: npm run operator -- ${name} ${command.usage}`.trim();
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      allowPositionals: command.argument !== undefined,
      options: Object.fromEntries(
        command.options.map(({ name: option, flag, short }) => [
          option,
          {
            ...({ type: flag ? 'boolean' : 'string', multiple: true } as const),
            ...(short === undefined ? {} : { short }),
          },
        ]),
      ),
    });
    // A flag is there or not; its value says nothing.
    const options = values as Options;
    const wrong = command.options.find(
      ({ name: option, required, repeatable }) =>
        (required && !options[option]) || (!repeatable && (options[option]?.length ?? 0) > 1),
    );
    if (wrong || positionals.length !== (command.argument === undefined ? 0 : 1)) return { error: usage };
    return { name, argument: positionals[0] ?? '', options };
  } catch (error) {
    return { error: `${(error as Error).message}\n${usage}` };
  }
}
