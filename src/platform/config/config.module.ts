import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Settings } from './settings.js';

/** Provides the validated settings to every module. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: ConfigModule,
      providers: [{ provide: Settings, useValue: settings }],
      exports: [Settings],
    };
  }
}
