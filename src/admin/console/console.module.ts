import { Module } from '@nestjs/common';
import { ConsoleClientsController } from './clients/clients.controller.js';
import { ConsoleAnswers } from './console-answers.interceptor.js';
import { ConsoleGuard } from './console.guard.js';
import { ConsoleOverviewController } from './overview.controller.js';

/** The operators' console (contract §12): controllers and pages alone, which call the services that the admin API calls. */
@Module({
  controllers: [ConsoleClientsController, ConsoleOverviewController],
  providers: [ConsoleAnswers, ConsoleGuard],
})
export class ConsoleModule {}
