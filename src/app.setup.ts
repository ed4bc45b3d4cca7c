import fastifyCookie from '@fastify/cookie';
import fastifyStatic from '@fastify/static';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import type { Settings } from './config/settings.js';
import { AllowedMethods } from './http/allowed-methods.js';
import { STATIC_ASSETS } from './http/assets.js';
import { NestLog } from './http/logging.js';
import { addCors } from './http/cors.js';
import { answerClientError, BARE_HEADERS } from './http/client-error.js';
import { addBodyParsers } from './http/body-parsers.js';
import { badRequest } from './http/problem.js';
import { ProblemFilter } from './http/problem.filter.js';
import { renderProblem } from './http/render-problem.js';
import { addRequestCourse } from './http/request-course.js';
import { addRequestHooks } from './http/request-hooks.js';
import { requestIdOf } from './http/request-id.js';
import { addSecurityHeaders } from './http/security-headers.js';
import { RequestValidationPipe } from './http/validation.pipe.js';

// Contract §10: the whole body at most 64 kB; nothing else is allowed more.
const BODY_LIMIT_BYTES = 65_536;

// Who sends a request byte by byte is cut off: nothing that is sent here is long.
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const LOOK_EVERY_MS = 2_000;

/** Makes the application as both the service and the tests run it: parsers, pipes, filters, headers, logs. */
export async function createApp(settings: Settings, log: Logger): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    skipMiddie: true,
    loggerInstance: log,
    // One line for each request is written by the hook below, without the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: settings.trustedProxies.length > 0 ? settings.trustedProxies : false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: LOOK_EVERY_MS },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    clientErrorHandler: answerClientError,
    // What the router refuses before any hook runs: a malformed address, or one with an endless parameter.
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const rendered = renderProblem(badRequest('The address is malformed or too long.'), settings.baseUrl);
      void reply
        .status(400)
        .headers({ ...BARE_HEADERS, 'x-request-id': request.id, ...rendered.headers })
        .send(rendered.body);
    },
    // While it stops, what still comes on an open connection is served, and the connection closed after it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  const allowedMethods = new AllowedMethods(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(settings), adapter, {
    bodyParser: false,
    logger: new NestLog(log),
    abortOnError: false,
  });
  const filter = new ProblemFilter(settings, allowedMethods);
  // Nest's error handler comes too late for the routes that are no controller's: preflight requests and assets.
  fastify.addHook('onRoute', (route) => {
    route.errorHandler ??= (error, request, reply) => filter.answer(error, request, reply);
  });
  addRequestCourse(fastify);
  addRequestHooks(fastify);
  addBodyParsers(fastify);
  addSecurityHeaders(fastify, settings);
  addCors(fastify);
  await fastify.register(fastifyCookie);
  await fastify.register(fastifyStatic, { serve: false });
  for (const asset of STATIC_ASSETS) {
    fastify.get(asset.path, { config: {} }, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=3600')
        .sendFile(asset.file, asset.folder, { cacheControl: false }),
    );
  }
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(filter);
  await app.init();
  return app;
}
