import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { SettingsError } from '../config/environment.js';
import { databaseUrlOf, loadSettings } from '../config/settings.js';
import { Problem } from '../http/problems/problem.js';
import { readArguments } from './read-arguments.js';

/** Runs one command of the operator's tool and prints what came of it as JSON; the exit code. */
export async function runCommand(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const request = readArguments(args);
  if ('error' in request) return refuse(request.error);
  const { command, argument, options } = request;
  try {
    if ('runOn' in command) {
      const url = databaseUrlOf(environment);
      if (url === undefined) return refuse('DATABASE_URL is required.');
      return show(await command.runOn(url, options, (line) => process.stderr.write(`${line}\n`)));
    }
    const settings = await loadSettings(environment);
    if (settings.databaseUrl === undefined) return refuse('DATABASE_URL is required.');
    // Made but never started: nothing listens, and nothing works in the background.
    const app = await NestFactory.create(AppModule.forRoot(settings), new FastifyAdapter(), {
      logger: false,
      abortOnError: false,
    });
    try {
      return show(await command.run(app, argument, options));
    } finally {
      await app.close();
    }
  } catch (error) {
    if (error instanceof Problem) return refuse(wordsOf(error));
    if (error instanceof SettingsError) return refuse(error.message);
    return refuse(`The command failed: ${(error as Error).message}`);
  }
}

function show(result: object): number {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  return 0;
}

const wordsOf = ({ detail, extras: { fieldErrors = {} } }: Problem): string =>
  [detail, ...Object.entries(fieldErrors).map(([name, errors]) => `  ${name}: ${errors.join('; ')}`)].join(
    '\n',
  );

function refuse(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}
