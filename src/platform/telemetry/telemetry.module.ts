import {
  Global,
  Injectable,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Settings } from '#platform/config/settings.js';
import { setTracing, tracing } from './tracing.js';

/** Exports the last spans after everything else has stopped. */
@Injectable()
class LastSpans implements OnApplicationShutdown {
  async onApplicationShutdown(): Promise<void> {
    await tracing()?.stop();
  }
}

/** Tracing with OpenTelemetry, if configured; otherwise nothing of it is loaded. */
@Global()
@Module({})
export class TelemetryModule {
  static forRoot({ tracing }: Settings): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [
        LastSpans,
        {
          provide: 'tracing',
          useFactory: async () => {
            if (!tracing) return;
            const { startOpenTelemetry } = await import('./open-telemetry/open-telemetry.js');
            setTracing(startOpenTelemetry(tracing, new Logger('Tracing')));
          },
        },
      ],
    };
  }
}
