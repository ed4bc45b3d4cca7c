import { Global, Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Settings } from '../config/settings.js';
import { dataSourceOptions } from './data-source.js';
import { Transactions } from './transactions.js';

/** The pool of connections, and the way to run a transaction. */
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
      providers: [Transactions],
      exports: [Transactions],
    };
  }
}
