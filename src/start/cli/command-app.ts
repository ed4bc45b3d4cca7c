import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '#start/app.module.js';
import type { Settings } from '#platform/config/settings.js';

/** The service for one command: made but never started, so nothing listens, and nothing works in the background. */
export const createCommandApp = (settings: Settings): Promise<INestApplicationContext> =>
  NestFactory.create(AppModule.forRoot(settings), new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
