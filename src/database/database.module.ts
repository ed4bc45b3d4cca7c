import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Settings } from '../config/settings.js';
import { AccessChanges } from './access-changes.service.js';
import { dataSourceOptions } from './data-source.js';
import { Listener } from './listener.service.js';
import { Statements } from './statements.js';
import { Transactions } from './transactions.js';

/** The pool of connections, the way to run a transaction, and what other instances announce. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions(settings.databaseUrl!, settings.databasePoolSize),
          retryAttempts: 1,
        }),
      ],
      providers: [AccessChanges, Listener, Statements, Transactions],
      exports: [AccessChanges, Listener, Statements, Transactions],
    };
  }
}
