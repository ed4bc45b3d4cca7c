import { applyDecorators, createParamDecorator, Injectable, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiProblems } from '#platform/http/api/api-answers.js';
import { forbidden, notFound } from '#platform/http/problems/problem.js';
import { PartnerEndpoint } from '#access/rate-limits/partners/partner-endpoint.decorator.js';
import { sandboxOf, type Sandbox } from '#events/sandbox/driver.js';

/** Admits client-credentials tokens of clients in a sandbox; for live clients these endpoints do not exist. */
@Injectable()
class SandboxCallerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { client, userId } = context.switchToHttp().getRequest<FastifyRequest>().principal!;
    if (client.environment === 'live') throw notFound('There is nothing at this URL.');
    if (userId === undefined) return true;
    throw forbidden('This requires a client-credentials token: a driver does not control the sandbox.');
  }
}

/** An endpoint with which a program controls its sandbox (contract §19), and the further problems it answers with. Faults leave it alone. */
export const SandboxEndpoint = (...problems: number[]) =>
  applyDecorators(
    PartnerEndpoint({ neverFails: true }),
    UseGuards(SandboxCallerGuard),
    ApiProblems(404, ...problems),
  );

/** The sandbox of the caller, after the guard. */
export const CurrentSandbox = createParamDecorator((_data: unknown, context: ExecutionContext): Sandbox =>
  sandboxOf(context.switchToHttp().getRequest<FastifyRequest>().principal!.client)!,
);
