import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { SettingsError } from '../config/environment.js';
import { loadSettings } from '../config/settings.js';
import { Problem } from '../http/problem.js';
import { readArguments } from './read-arguments.js';

/** Runs one command of the operator's tool and prints what came of it as JSON; the exit code. */
export async function runCommand(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const request = readArguments(args);
  if ('error' in request) return refuse(request.error);
  try {
    const settings = await loadSettings(environment);
    if (settings.databaseUrl === undefined) return refuse('DATABASE_URL is needed.');
    // Made but never started: nothing listens, and nothing works in the background.
    const app = await NestFactory.create(AppModule.forRoot(settings), new FastifyAdapter(), {
      logger: false,
      abortOnError: false,
    });
    try {
      const result = await request.command.run(app, request.argument, request.options);
      process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
      return 0;
    } finally {
      await app.close();
    }
  } catch (error) {
    if (error instanceof Problem) return refuse(wordsOf(error));
    if (error instanceof SettingsError) return refuse(error.message);
    return refuse(`It could not be done: ${(error as Error).message}`);
  }
}

const wordsOf = ({ detail, extras: { fieldErrors = {} } }: Problem): string =>
  [detail, ...Object.entries(fieldErrors).map(([name, errors]) => `  ${name}: ${errors.join('; ')}`)].join(
    '\n',
  );

function refuse(words: string): number {
  process.stderr.write(`${words}\n`);
  return 1;
}
