import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { ScopeEntity } from './scope.entity.js';
import { ScopeNumbers } from './scope-numbers.service.js';
import { ScopesRepository } from './scopes.repository.js';
import { ScopesService } from './scopes.service.js';

@Module({
  imports: [AuditModule, TypeOrmModule.forFeature([ScopeEntity])],
  providers: [ScopeNumbers, ScopesRepository, ScopesService],
  exports: [ScopeNumbers, ScopesService],
})
export class ScopesModule {}
