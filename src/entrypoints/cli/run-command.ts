import { parseArgs } from 'node:util';
import type { INestApplicationContext } from '@nestjs/common';
import type { Settings } from '#platform/config/settings.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { DATABASE_COMMANDS, COMMANDS } from './commands.js';
import type { Command, FeatureCommand, Options } from './command.js';
import { OutputLostError, print, Printed } from './output.js';
import { apiWordsOf } from '#platform/http/problems/violation.js';

/** What the commands need of the start. */
interface Surroundings {
  features: Record<string, FeatureCommand>;
  /** The service, which serves nothing. */
  createApp(settings: Settings): Promise<INestApplicationContext>;
}

/** What was asked for; the error is what to print instead. */
type Request = { name: string; argument: string; options: Options } | { error: string };

/** The commands with what they take. */
const helpOn = (commands: Record<string, Command>): string =>
  [
    'Usage: npm run operator -- COMMAND',
    '',
    ...Object.entries(commands).map(
      ([name, { usage, summary }]) => `  ${`${name} ${usage}`.trim()}\n      ${summary}`,
    ),
    '',
    'The settings are those of the service; DATABASE_URL is required.',
  ].join('\n');

/** Reads a command line; refuses what it does not know. */
function readArguments(args: string[], commands: Record<string, Command>): Request {
  const [name = '', ...rest] = args;
  if (!Object.hasOwn(commands, name)) return { error: helpOn(commands) };
  const command = commands[name]!;
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

/** The exit code if what a command printed could not be written to its end. What it did is done: it is no refusal. */
const OUTPUT_LOST = 3;

/**
 * Runs one command of the operator's tool and prints what came of it as JSON; the exit code, once everything is written. The service
 * is loaded only for a command line that makes sense, so that usage texts appear at once.
 */
export async function runCommand(
  args: string[],
  environment: NodeJS.ProcessEnv,
  { features, createApp }: Surroundings,
): Promise<number> {
  const request = readArguments(args, { ...DATABASE_COMMANDS, ...COMMANDS, ...features });
  if ('error' in request) return refuse(request.error);
  const { name, argument, options } = request;
  const { migrationSettingsOf, loadSettings } = await import('#platform/config/settings.js');
  const { SettingsError } = await import('#platform/config/process-environment.js');
  const { Problem } = await import('#platform/http/problems/problem.js');
  const { ACTIONS, DATABASE_ACTIONS } = await import('./actions.js');
  try {
    const feature = await features[name]?.load();
    const alone = feature?.alone?.(options);
    if (alone) return await show(alone);
    if (isForDatabase(name)) {
      const { databaseUrl, migrationWait } = migrationSettingsOf(environment);
      if (databaseUrl === undefined) return refuse('DATABASE_URL is required.');
      const wait = {
        waitSeconds: migrationWait,
        say: (line: string) => void process.stderr.write(`${line}\n`),
      };
      return await show(await DATABASE_ACTIONS[name](databaseUrl, options, wait));
    }
    const settings = await loadSettings(environment);
    if (settings.databaseUrl === undefined) return refuse('DATABASE_URL is required.');
    const run = feature?.run ?? ACTIONS[name as keyof typeof COMMANDS];
    const app = await createApp(settings);
    try {
      return await show(await run(app, argument, options, environment));
    } finally {
      await app.close();
    }
  } catch (error) {
    if (error instanceof OutputLostError) return lost(error);
    if (error instanceof Problem) return refuse(wordsOf(error));
    if (error instanceof SettingsError) return refuse(error.message);
    return refuse(`The command failed: ${(error as Error).message}`);
  }
}

const isForDatabase = (name: string): name is keyof typeof DATABASE_COMMANDS =>
  Object.hasOwn(DATABASE_COMMANDS, name);

async function show(result: object | undefined): Promise<number> {
  if (result === undefined) return 0;
  if (result instanceof Printed) {
    await print(result.text);
    return result.code;
  }
  await print(`${JSON.stringify(result, null, 2)}\n`);
  // Parts of what was asked for could not be done.
  return 'refused' in result && (result.refused as unknown[]).length > 0 ? 1 : 0;
}

const wordsOf = ({ detail, extras: { violations = {} } }: Problem): string =>
  [
    detail,
    ...Object.entries(apiWordsOf(violations)).map(([name, texts]) => `  ${name}: ${texts.join('; ')}`),
  ].join('\n');

async function refuse(message: string): Promise<number> {
  // The code says it too, if nobody reads the words.
  await print(`${message}\n`, 'stderr').catch(() => undefined);
  return 1;
}

async function lost({ message, hasNoReader }: OutputLostError): Promise<number> {
  // A reader that has seen enough, as of `| head`, is told nothing.
  if (!hasNoReader) await print(`${message}\n`, 'stderr').catch(() => undefined);
  return OUTPUT_LOST;
}
