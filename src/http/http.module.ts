import { Module } from '@nestjs/common';
import { Cookies } from './server/cookies.js';
import { CsrfService } from './forms/csrf.service.js';
import { FormTargets } from './page-routes/form-targets.js';
import { ProblemTypesController } from './problems/problem-types.controller.js';

/** What all pages and endpoints share and what is independent of OAuth: problems, cookies, CSRF tokens. */
@Module({
  controllers: [ProblemTypesController],
  providers: [Cookies, CsrfService, FormTargets],
  exports: [Cookies, CsrfService, FormTargets],
})
export class HttpModule {}
