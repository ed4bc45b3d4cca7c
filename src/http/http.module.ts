import { Module } from '@nestjs/common';
import { Cookies } from './server/cookies.js';
import { CsrfService } from './forms/csrf.service.js';
import { FormIds } from './forms/form-ids.service.js';
import { LargeReads } from './page-routes/large-reads.js';
import { OnwardRedirects } from './page-routes/onward-redirects.js';
import { PageTurns } from './page-routes/page-turns.js';
import { ProblemTypesController } from './problems/problem-types.controller.js';

/** What all pages and endpoints share and what is independent of OAuth: problems, cookies, CSRF tokens, ids of forms. */
@Module({
  controllers: [ProblemTypesController],
  providers: [Cookies, CsrfService, FormIds, LargeReads, OnwardRedirects, PageTurns],
  exports: [Cookies, CsrfService, FormIds, LargeReads, OnwardRedirects, PageTurns],
})
export class HttpModule {}
