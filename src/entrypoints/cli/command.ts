import type { INestApplicationContext } from '@nestjs/common';
import { readFile } from 'node:fs/promises';
import { badRequest } from '#platform/http/problems/problem.js';

/** What a command takes. */
export interface Command {
  /** What follows the name: an argument in angle brackets, options with their values. */
  usage: string;
  summary: string;
  argument?: string;
  /** A flag has no value. */
  options: { name: string; required?: boolean; repeatable?: boolean; flag?: boolean; short?: string }[];
}

/** The options of a command as given on the command line; each may be repeated. */
export type Options = Record<string, string[] | undefined>;

/** What a command does. What it returns is printed; undefined if it has printed by itself. */
export type Action = (
  app: INestApplicationContext,
  argument: string,
  options: Options,
  environment: NodeJS.ProcessEnv,
) => Promise<object | undefined>;

/** A command that a feature brings. What it does is loaded only when it runs, so that usage texts appear at once. */
export interface FeatureCommand extends Command {
  /** `alone`: what is printed without the service; undefined if these options need it. */
  load(): Promise<{ run: Action; alone?: (options: Options) => object | undefined }>;
}

export const one = (options: Options, name: string): string | undefined => options[name]?.[0];

/** Throws a 400 problem if the file cannot be read. */
export const textOfFile = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: Error) => {
    throw badRequest(`The file cannot be read: ${error.message}`);
  });
