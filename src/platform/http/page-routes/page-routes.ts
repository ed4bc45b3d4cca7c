import {
  applyDecorators,
  Controller,
  Get,
  Post,
  UseGuards,
  UseInterceptors,
  type CanActivate,
  type Type,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyContextConfig } from 'fastify';
import { PageAnswers } from './page-answers.interceptor.js';

interface PageRoutesOptions {
  /** The path of all its pages. */
  root: string;
  /** Admits visitors and checks every form, before any handler runs. */
  guard: Type<CanActivate>;
  renderError: FastifyContextConfig['renderError'];
  takesOneClick?: boolean;
}

/**
 * The decorators of an area of pages: for its controllers, which admit visitors and check every form by the guard, and for their
 * routes, which return a `PageAnswer`.
 */
export function pageRoutes({ root, guard, renderError, takesOneClick }: PageRoutesOptions) {
  const route =
    (method: (path: string) => MethodDecorator, config: Partial<FastifyContextConfig>) =>
    (path = '', ...further: MethodDecorator[]) =>
      applyDecorators(
        method(path),
        RouteConfig({ renderError, isPage: true, takesForm: true, takesOneClick, ...config }),
        ...further,
      );
  return {
    Pages: (path = '') =>
      applyDecorators(
        Controller(`${root}/${path}`),
        UseGuards(guard),
        UseInterceptors(PageAnswers),
        ApiExcludeController(),
      ),
    PageGet: route(Get, {}),
    PagePost: route(Post, { answersAgain: true }),
    /** A form with a file. */
    PageUpload: route(Post, { answersAgain: true, takesUpload: true }),
  };
}
