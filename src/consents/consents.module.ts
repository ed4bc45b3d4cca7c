import { Global, Module } from '@nestjs/common';
import { ConsentsRepository } from './consents.repository.js';
import { ConsentsService } from './consents.service.js';

/** Which user agreed to what with which client. */
@Global()
@Module({ providers: [ConsentsRepository, ConsentsService], exports: [ConsentsService] })
export class ConsentsModule {}
