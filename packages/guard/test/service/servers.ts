import { Controller, Get, Module, UseGuards, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import express from 'express';
import fastify from 'fastify';
import type { Server } from 'node:http';
import * as forExpress from '../../src/express.js';
import * as forFastify from '../../src/fastify.js';
import { AccessGuard, type Access, type GuardOptions } from '../../src/index.js';
import { AccessGuardModule, AccessTokenGuard, CurrentAccess, RequireAccess } from '../../src/nest.js';

/** A data service that guards `/me` with a token alone, and `/users/:id/vehicles` with `vehicle:read` of the user. */
export interface GuardedServer {
  guard: AccessGuard;
  stop: () => Promise<void>;
}

type Start = (options: GuardOptions, port: number) => Promise<GuardedServer>;

const VEHICLES = ['vehicle:read'];

const startExpress: Start = async (options, port) => {
  const guard = new AccessGuard(options);
  const app = express();
  const { protectedResourceMetadata, requireAccess } = forExpress;
  app.use(protectedResourceMetadata(guard));
  app.get('/me', requireAccess(guard), (request, response) => void response.json(request.access));
  app.get(
    '/users/:id/vehicles',
    requireAccess(guard, { scopes: VEHICLES, userId: ({ params }) => params.id as string }),
    (request, response) => void response.json(request.access),
  );
  app.get(
    '/nobody',
    requireAccess(guard, { userId: ({ params }) => params.id as string | undefined }),
    (request, response) => void response.json(request.access),
  );
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(port, '127.0.0.1', () => resolve(listening));
  });
  // As long as the other servers: one of 5 s would end under a request when this process is held up for as long.
  server.keepAliveTimeout = 72_000;
  const stop = async () => {
    await guard.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { guard, stop };
};

const startFastify: Start = async (options, port) => {
  const guard = new AccessGuard(options);
  const app = fastify();
  const { accessGuardPlugin, requireAccess } = forFastify;
  await app.register(accessGuardPlugin(guard));
  app.get('/me', { onRequest: requireAccess(guard) }, ({ access }) => Promise.resolve(access));
  const userId = ({ params }: { params: unknown }) => (params as { id?: string }).id;
  app.get(
    '/users/:id/vehicles',
    { onRequest: requireAccess(guard, { scopes: VEHICLES, userId }) },
    ({ access }) => Promise.resolve(access),
  );
  app.get('/nobody', { onRequest: requireAccess(guard, { userId }) }, ({ access }) =>
    Promise.resolve(access),
  );
  await app.listen({ port, host: '127.0.0.1' });
  return { guard, stop: () => app.close() };
};

@Controller()
@UseGuards(AccessTokenGuard)
class DataController {
  @Get('me')
  @RequireAccess()
  me(@CurrentAccess() access: Access): Access {
    return access;
  }

  @Get('users/:id/vehicles')
  @RequireAccess({ scopes: VEHICLES, user: 'id' })
  vehicles(@CurrentAccess() access: Access): Access {
    return access;
  }

  @Get('nobody')
  @RequireAccess({ user: () => undefined })
  nobody(@CurrentAccess() access: Access): Access {
    return access;
  }
}

const moduleWith = (options: GuardOptions): Type => {
  @Module({ imports: [AccessGuardModule.forRoot(options)], controllers: [DataController] })
  class DataModule {}
  return DataModule;
};

const startNest: Start = async (options, port) => {
  const adapter = new FastifyAdapter();
  const app = await NestFactory.create<NestFastifyApplication>(moduleWith(options), adapter, {
    logger: false,
  });
  await app.listen(port, '127.0.0.1');
  return { guard: app.get(AccessGuard), stop: () => app.close() };
};

export const SERVERS: [name: string, start: Start][] = [
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Nest', startNest],
];
