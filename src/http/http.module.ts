import { Module } from '@nestjs/common';
import { Cookies } from './server/cookies.js';
import { CsrfService } from './forms/csrf.service.js';
import { OnwardRedirects } from './page-routes/onward-redirects.js';
import { ProblemTypesController } from './problems/problem-types.controller.js';

/** What all pages and endpoints share and what is independent of OAuth: problems, cookies, CSRF tokens. */
@Module({
  controllers: [ProblemTypesController],
  providers: [Cookies, CsrfService, OnwardRedirects],
  exports: [Cookies, CsrfService, OnwardRedirects],
})
export class HttpModule {}
