import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConsentEntity } from './consent.entity.js';
import { ConsentEvents } from './consent-events.js';
import { ConsentsRepository } from './consents.repository.js';
import { ConsentsService } from './consents.service.js';

/** Which user consented to what for which client. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ConsentEntity])],
  providers: [ConsentEvents, ConsentsRepository, ConsentsService],
  exports: [ConsentEvents, ConsentsService],
})
export class ConsentsModule {}
