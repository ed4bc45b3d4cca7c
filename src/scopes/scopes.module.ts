import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ScopeEntity } from './scope.entity.js';
import { ScopeNumbers } from './scope-numbers.service.js';
import { ScopesService } from './scopes.service.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ScopeEntity])],
  providers: [ScopeNumbers, ScopesService],
  exports: [ScopeNumbers, ScopesService],
})
export class ScopesModule {}
