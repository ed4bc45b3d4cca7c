import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { openApiDocuments } from '#entrypoints/api-docs/document.js';
import type { ApiDocuments } from '#entrypoints/api-docs/audiences.js';
import { AppModule } from '#start/app.module.js';
import { Settings } from '#platform/config/settings.js';

/** The OpenAPI documents of a service with this public URL, without starting one: no provider is created. */
export async function describeApi(baseUrl: string): Promise<ApiDocuments> {
  // Nothing connects to this database.
  const settings = Object.assign(new Settings(), { baseUrl, databaseUrl: 'postgres://localhost/none' });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(settings),
    new FastifyAdapter({ skipMiddie: true }),
    { preview: true, logger: false, abortOnError: false },
  );
  return openApiDocuments(app, baseUrl);
}
