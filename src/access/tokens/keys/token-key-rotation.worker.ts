import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { TokenKeysService } from './token-keys.service.js';

/** Replaces a token key that is old; looks every hour. */
@Injectable()
export class TokenKeyRotationWorker extends PeriodicWorker {
  constructor(
    private readonly keys: TokenKeysService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    const failure = 'The token key could not be rotated';
    super({ everyMs: 3_600_000, failure, isEverywhere: true }, settings, schema);
  }

  protected work(): Promise<void> {
    return this.keys.rotateWhenOld();
  }
}
