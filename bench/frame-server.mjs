/**
 * The frame: what the wall does, in the framework of the service as its documentation shows it: controllers of NestJS over Fastify,
 * strategies of Passport behind guards, a throttler with counters in memory, and bodies checked by class-validator. It has no log,
 * metrics, pages, revocation or database.
 */
import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Module,
  Post,
  Req,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { BasicStrategy } from 'passport-http';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import { tokenAnswer } from './bare-http.mjs';
import { authenticate, findToken, introspected, numberOf, usersOf } from './wall-memory.mjs';
import { newWallToken } from './wall-tokens.mjs';

const MANY = 1_000_000_000;

/** Applies decorators to a class, and to its methods and their parameters; JavaScript has no syntax for it yet. */
function declare(target, decorators, members = {}) {
  for (const [name, { method = [], parameters = [], type }] of Object.entries(members)) {
    const { prototype } = target;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
    if (type) Reflect.defineMetadata('design:paramtypes', type, prototype, name);
    for (const decorate of method) decorate(prototype, name, descriptor);
    for (const [at, decorate] of parameters.entries()) decorate(prototype, name, at);
  }
  for (const decorate of decorators) decorate(target);
  return target;
}

class Clients extends PassportStrategy(BasicStrategy) {
  validate(id, secret) {
    return authenticate(id, secret);
  }
}

class Bearers extends PassportStrategy(BearerStrategy) {
  validate(text) {
    return findToken(text);
  }
}

class TokenRequest {}
declare(TokenRequest, [], { grant_type: { method: [IsIn(['client_credentials'])] } });
class IntrospectionRequest {}
declare(IntrospectionRequest, [], {
  token: { method: [IsString(), MaxLength(4096)] },
  token_type_hint: { method: [IsOptional(), IsString()] },
});

class Frame {
  token({ user: client }) {
    return tokenAnswer(newWallToken({ client: numberOf(client.id) }), client.scopes);
  }
  introspect({ token }) {
    return introspected(token);
  }
  users({ user: token }) {
    return usersOf(token);
  }
  ready() {
    return {};
  }
}
declare(Frame, [Controller()], {
  token: {
    method: [Post('/o/token'), HttpCode(200), UseGuards(AuthGuard('basic'))],
    parameters: [Req(), Body()],
    type: [Object, TokenRequest],
  },
  introspect: {
    method: [Post('/o/introspect/'), HttpCode(200), UseGuards(AuthGuard('basic'))],
    parameters: [Body()],
    type: [IntrospectionRequest],
  },
  users: { method: [Get('/v2/users'), UseGuards(AuthGuard('bearer'))], parameters: [Req()] },
  ready: { method: [Get('/health/ready')] },
});

class FrameModule {}
declare(FrameModule, [
  Module({
    imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: MANY }])],
    controllers: [Frame],
    providers: [Clients, Bearers, { provide: APP_GUARD, useClass: ThrottlerGuard }],
  }),
]);

const app = await NestFactory.create(
  FrameModule,
  new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } }),
  { logger: ['error'] },
);
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
process.once('SIGTERM', () => void app.close());
await app.listen(Number(process.env.PORT), '127.0.0.1');
