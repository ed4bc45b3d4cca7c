import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Settings } from '../config/settings.js';
import { AccessChangesRepository } from './changes/access-changes.repository.js';
import { AccessChanges } from './changes/access-changes.service.js';
import { dataSourceOptions } from './connections/data-source.js';
import { Listener } from './connections/listener.service.js';
import { RequiredMigrationsRepository } from './migrations/required-migrations.repository.js';
import { SchemaCompatibility } from './migrations/schema-compatibility.service.js';
import { Statements } from './queries/statements.js';
import { Transactions } from './queries/transactions.js';

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
      providers: [
        AccessChanges,
        AccessChangesRepository,
        Listener,
        RequiredMigrationsRepository,
        SchemaCompatibility,
        Statements,
        Transactions,
      ],
      exports: [AccessChanges, Listener, SchemaCompatibility, Statements, Transactions],
    };
  }
}
