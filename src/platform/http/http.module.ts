import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Cookies } from './server/cookies.js';
import { CsrfService } from './forms/csrf.service.js';
import { FormAnswersRepository, FormAnswerEntity } from './forms/form-answers.repository.js';
import { FormAnswers } from './forms/form-answers.service.js';
import { FormIds } from './forms/form-ids.service.js';
import { LargeReads } from './page-routes/large-reads.js';
import { PageTurns } from './page-routes/page-turns.js';
import { ProblemTypesController } from './problems/problem-types.controller.js';

/** What all pages and endpoints share and what is independent of OAuth: problems, cookies, CSRF tokens, ids of forms and their answers. */
@Module({
  imports: [TypeOrmModule.forFeature([FormAnswerEntity])],
  controllers: [ProblemTypesController],
  providers: [Cookies, CsrfService, FormAnswers, FormAnswersRepository, FormIds, LargeReads, PageTurns],
  exports: [Cookies, CsrfService, FormAnswers, FormIds, LargeReads, PageTurns],
})
export class HttpModule {}
