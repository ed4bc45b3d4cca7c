import { Module } from '@nestjs/common';
import { Cookies } from './server/cookies.js';
import { CsrfService } from './forms/csrf.service.js';
import { FormIds } from './forms/form-ids.service.js';
import { OnwardRedirects } from './page-routes/onward-redirects.js';
import { ProblemTypesController } from './problems/problem-types.controller.js';

/** What all pages and endpoints share and what is independent of OAuth: problems, cookies, CSRF tokens, ids of forms. */
@Module({
  controllers: [ProblemTypesController],
  providers: [Cookies, CsrfService, FormIds, OnwardRedirects],
  exports: [Cookies, CsrfService, FormIds, OnwardRedirects],
})
export class HttpModule {}
