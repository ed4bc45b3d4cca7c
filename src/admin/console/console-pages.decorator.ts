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
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ConsoleAnswers } from './console-answers.interceptor.js';
import { consoleErrorPage } from './console-error-page.js';
import type { ConsoleVisit } from './console-visit.js';
import { ConsoleGuard } from './console.guard.js';
import { PasswordIs, type PasswordRule } from './require-recent-password.js';

/** A controller of the console: only for operators, with every form checked; its routes return a `ConsoleAnswer`. */
export const ConsolePages = (path = '') =>
  applyDecorators(
    Controller(`admin/console/${path}`),
    UseGuards(ConsoleGuard),
    UseInterceptors(ConsoleAnswers),
    ApiExcludeController(),
  );

const ConsoleErrors = () => RouteConfig({ renderError: consoleErrorPage });

/** A page of the console. */
export const ConsoleGet = (path = '', password: 'asked' | 'not asked' = 'not asked') =>
  applyDecorators(Get(path), ConsoleErrors(), PasswordIs(password));

/** A form action of the console, and whether the guard asks for the password first. */
export const ConsolePost = (path: string, password: PasswordRule) =>
  applyDecorators(Post(path), ConsoleErrors(), PasswordIs(password));

/** The operator's request, after the guard. */
export const Visit = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ConsoleVisit =>
    context.switchToHttp().getRequest<FastifyRequest>().consoleVisit!,
);
