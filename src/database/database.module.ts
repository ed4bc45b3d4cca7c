import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Settings } from '../config/settings.js';
import { AccessChanges } from './access-changes.service.js';
import { dataSourceOptions } from './data-source.js';
import { Listener } from './listener.service.js';
import { SchemaCompatibility } from './schema-compatibility.service.js';
import { Statements } from './statements.js';
import { Transactions } from './transactions.js';

/** The connection pool, transactions, and notifications from other instances. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions(settings.databaseUrl!, settings.databasePoolSize),
          autoLoadEntities: true,
          retryAttempts: 1,
        }),
      ],
      providers: [AccessChanges, Listener, SchemaCompatibility, Statements, Transactions],
      exports: [AccessChanges, Listener, SchemaCompatibility, Statements, Transactions],
    };
  }
}
