import {
  applyDecorators,
  Controller,
  createParamDecorator,
  Post,
  UseGuards,
  UseInterceptors,
  type ExecutionContext,
  Get,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { PageRoute } from '../../http/html.js';
import { AddressRateLimitGuard } from '../../rate-limits/address-rate-limit.guard.js';
import { ConsoleAnswers } from './console-answers.interceptor.js';
import type { ConsoleVisit } from './console-visit.js';
import { ConsoleGuard } from './console.guard.js';

/** A controller of the console: for operators alone, every form checked; its routes answer with a `ConsoleAnswer`. */
export const ConsolePages = (path = '') =>
  applyDecorators(
    Controller(`admin/console/${path}`),
    UseGuards(AddressRateLimitGuard, ConsoleGuard),
    UseInterceptors(ConsoleAnswers),
    ApiExcludeController(),
  );

/** A page of the console. */
export const Shows = (path = '') => applyDecorators(Get(path), PageRoute());

/** What a form of the console does. */
export const Does = (path = '') => applyDecorators(Post(path), PageRoute());

/** The operator's request, behind the guard. */
export const Visit = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ConsoleVisit =>
    context.switchToHttp().getRequest<FastifyRequest>().consoleVisit!,
);
