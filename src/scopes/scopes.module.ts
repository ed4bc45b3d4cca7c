import { Global, Module } from '@nestjs/common';
import { ScopeNumbers } from './scope-numbers.service.js';
import { ScopesService } from './scopes.service.js';

@Global()
@Module({ providers: [ScopeNumbers, ScopesService], exports: [ScopeNumbers, ScopesService] })
export class ScopesModule {}
