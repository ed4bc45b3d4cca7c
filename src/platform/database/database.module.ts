import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Settings } from '#platform/config/settings.js';
import { AccessChangeEntity } from './changes/access-change.entity.js';
import { AccessChangesRepository } from './changes/access-changes.repository.js';
import { AccessChanges } from './changes/access-changes.service.js';
import { dataSourceOptions } from './connections/data-source.js';
import { Listener } from './connections/listener.service.js';
import { RetryingDataSource } from './connections/retrying-data-source.js';
import { RequiredMigrationsRepository } from './migrations/required-migrations.repository.js';
import { SchemaCompatibility } from './migrations/schema-compatibility.service.js';
import { PurgeTasks } from './purge/purge-tasks.js';
import { PurgeRepository } from './purge/purge.repository.js';
import { PurgeService } from './purge/purge.service.js';
import { Statements } from './queries/statements.js';
import { Transactions } from './queries/transactions.js';
import { WorkerStatements } from './queries/worker-statements.js';

const EXPORTED = [
  AccessChanges,
  Listener,
  PurgeService,
  PurgeTasks,
  SchemaCompatibility,
  Statements,
  Transactions,
  WorkerStatements,
];

/** The connection pool, transactions, notifications from other instances, and the purge. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({
            ...dataSourceOptions(settings.databaseUrl!, settings.databasePoolSize),
            autoLoadEntities: true,
            retryAttempts: 1,
          }),
          dataSourceFactory: async (options) => new RetryingDataSource(options!),
        }),
        TypeOrmModule.forFeature([AccessChangeEntity]),
      ],
      providers: [...EXPORTED, AccessChangesRepository, PurgeRepository, RequiredMigrationsRepository],
      exports: EXPORTED,
    };
  }
}
