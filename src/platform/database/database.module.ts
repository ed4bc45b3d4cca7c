import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Settings } from '#platform/config/settings.js';
import { AccessChangeEntity } from './changes/access-change.entity.js';
import { AccessChangesRepository } from './changes/access-changes.repository.js';
import { AccessChanges } from './changes/access-changes.service.js';
import { dataSourceOptions } from './connections/data-source.js';
import { Listener } from './connections/listener.service.js';
import { RetryingDataSource } from './connections/retrying-data-source.js';
import { DomainEvents } from './domain/domain-events.service.js';
import { DOMAIN_NAMES, DomainMethods } from './domain/domain-methods.js';
import { DomainQuestions } from './domain/domain-questions.service.js';
import type { NamedMap } from './domain/named.js';
import { PLATFORM_QUESTIONS } from './domain/platform-questions.js';
import { RequiredMigrationsRepository } from './migrations/required-migrations.repository.js';
import { SchemaCompatibility } from './migrations/schema-compatibility.service.js';
import { PurgeRepository } from './purge/purge.repository.js';
import { PurgeService } from './purge/purge.service.js';
import { Statements } from './queries/statements.js';
import { Transactions } from './queries/transactions.js';
import { WorkerStatements } from './queries/worker-statements.js';

const EXPORTED = [
  AccessChanges,
  DomainEvents,
  DomainQuestions,
  Listener,
  PurgeService,
  SchemaCompatibility,
  Statements,
  Transactions,
  WorkerStatements,
];

/** The connection pool, transactions with what is said and asked in them, notifications from other instances, and the purge. */
@Global()
@Module({})
export class DatabaseModule {
  /** `names`: the events and questions of the modules above. */
  static forRoot(settings: Settings, names: NamedMap): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        DiscoveryModule,
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
      providers: [
        ...EXPORTED,
        { provide: DOMAIN_NAMES, useValue: { ...PLATFORM_QUESTIONS, ...names } },
        DomainMethods,
        AccessChangesRepository,
        PurgeRepository,
        RequiredMigrationsRepository,
      ],
      exports: EXPORTED,
    };
  }
}
