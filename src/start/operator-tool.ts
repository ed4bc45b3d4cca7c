import type { INestApplicationContext } from '@nestjs/common';
import { runCommand } from '#entrypoints/cli/run-command.js';
import type { Settings } from '#platform/config/settings.js';
import { FEATURE_COMMANDS } from './feature-commands.js';

/** Runs a command of the service or of a feature; returns the exit code. */
export const runOperatorTool = (args: string[], environment: NodeJS.ProcessEnv): Promise<number> =>
  runCommand(args, environment, { features: FEATURE_COMMANDS, createApp });

/** The service for one command: made but never started, so nothing listens, and nothing works in the background. Loaded only then. */
async function createApp(settings: Settings): Promise<INestApplicationContext> {
  const [{ NestFactory }, { FastifyAdapter }, { AppModule }] = await Promise.all([
    import('@nestjs/core'),
    import('@nestjs/platform-fastify'),
    import('./app.module.js'),
  ]);
  return NestFactory.create(AppModule.forRoot(settings), new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
}
