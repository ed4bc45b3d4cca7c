import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { ScopeEntity } from './scope.entity.js';
import { ScopeNumbersService } from './scope-numbers.service.js';
import { PurposeEntity } from './purposes/purpose.entity.js';
import { PurposesRepository } from './purposes/purposes.repository.js';
import { PurposesService } from './purposes/purposes.service.js';
import { ScopesRepository } from './scopes.repository.js';
import { ScopesService } from './scopes.service.js';

@Module({
  imports: [AuditModule, TypeOrmModule.forFeature([PurposeEntity, ScopeEntity])],
  providers: [PurposesRepository, PurposesService, ScopeNumbersService, ScopesRepository, ScopesService],
  exports: [PurposesService, ScopeNumbersService, ScopesService],
})
export class ScopesModule {}
