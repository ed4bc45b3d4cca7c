import { say } from '#platform/language/text.js';
import fastifyCookie from '@fastify/cookie';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { BrandService } from '#records/brand/brand.service.js';
import { ConsoleGuard } from '#entrypoints/admin/console/console.guard.js';
import { AppModule } from './app.module.js';
import type { Settings } from '#platform/config/settings.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import { addSessionLimits, SessionLimits } from '#platform/http/guards/session-limits.js';
import { AllowedMethods } from '#platform/http/server/route-options.js';
import { addListAnswers } from '#platform/http/api/list-answer.js';
import { addAssets } from '#platform/http/server/assets.js';
import { addDownloads } from '#platform/http/server/downloads.js';
import { addCompression } from '#platform/http/server/compression.js';
import { NestLog } from '#platform/http/server/logging.js';
import { addCors } from '#platform/http/server/cors.js';
import { answerClientError, BARE_HEADERS } from '#platform/http/problems/client-error.js';
import { connectionServer } from '#platform/http/server/connections.js';
import { addForwardedAddress } from '#platform/http/server/forwarded-address.js';
import { BODY_LIMIT_BYTES } from '#platform/http/server/body-limit.js';
import { addBodyParsers } from '#platform/http/server/body-parsers.js';
import { addFormAnswers, FormAnswers } from '#platform/http/forms/form-answers.service.js';
import { addUploadLimits } from '#platform/http/forms/upload.js';
import { addBrand } from '#platform/http/page-routes/send-page.js';
import { addPageTurns, PageTurns } from '#platform/http/page-routes/page-turns.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { ProblemFilter } from '#platform/http/problems/problem.filter.js';
import { renderProblem } from '#platform/http/problems/render-problem.js';
import { addRequestContext } from '#platform/http/server/request-context.js';
import { addRequestHooks, addRoleGate, addSchemaGate } from '#platform/http/server/request-hooks.js';
import { requestIdOf, originForm } from '#platform/http/server/request-id.js';
import { languageOfProgram } from '#platform/http/server/request-language.js';
import { addSecurityHeaders } from '#platform/http/server/security-headers.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';

/**
 * Creates the application for the service and the tests alike: parsers, pipes, filters, headers, logs. `modules`: additional
 * ones.
 */
export async function createApp(
  settings: Settings,
  log: Logger,
  modules?: Type[],
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    skipMiddie: true,
    loggerInstance: log,
    // The hook below logs one line per request, without the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: settings.trustedProxies.length > 0 ? settings.trustedProxies : false,
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: connectionServer(settings),
    rewriteUrl: originForm,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    clientErrorHandler: answerClientError,
    // What the router refuses before any hook runs: a malformed URL, or one with an overlong parameter.
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const problem = badRequest(say('The URL is malformed or too long.'));
      const rendered = renderProblem(problem, settings.baseUrl, languageOfProgram(request));
      void reply
        .status(400)
        .headers({ ...BARE_HEADERS, 'x-request-id': request.id, ...rendered.headers })
        .send(rendered.body);
    },
    // During shutdown, requests on open connections are still served, and the connection is closed afterwards.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  });
  const fastify = adapter.getInstance() as unknown as FastifyInstance;
  const allowedMethods = new AllowedMethods(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(settings, modules),
    adapter,
    {
      bodyParser: false,
      logger: new NestLog(log),
      abortOnError: false,
    },
  );
  const filter = new ProblemFilter(settings, allowedMethods, app.get(AddressLimits));
  // Nest's error handler is registered too late for routes without a controller: preflight requests and assets.
  fastify.addHook('onRoute', (route) => {
    route.errorHandler ??= (error, request, reply) => filter.answer(error, request, reply);
  });
  const brand = app.get(BrandService);
  addBrand(fastify, { current: () => brand.current });
  addForwardedAddress(fastify, settings.trustedProxies);
  addRequestContext(fastify);
  // Before the first hook that may refuse a request: the hooks after it do not run then.
  addSecurityHeaders(fastify, settings);
  addRequestHooks(fastify);
  if (!settings.serves) addRoleGate(fastify);
  addSchemaGate(fastify, app.get(SchemaCompatibility));
  addPageTurns(fastify, app.get(PageTurns));
  addSessionLimits(fastify, app.get(SessionLimits));
  const operators = app.get(ConsoleGuard);
  addUploadLimits(fastify, async (request, reply) => !!(await operators.admit(request, reply)));
  addBodyParsers(fastify);
  addCors(fastify);
  await addCompression(fastify);
  await fastify.register(fastifyCookie);
  addFormAnswers(fastify, app.get(FormAnswers));
  addAssets(fastify);
  addDownloads(fastify);
  addListAnswers(fastify, settings);
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(filter);
  await app.init();
  return app;
}
