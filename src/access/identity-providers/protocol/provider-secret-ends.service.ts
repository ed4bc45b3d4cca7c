import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DAY_MS } from '#platform/config/durations.js';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';

/** Contract §15. As in deploy/prometheus/alerts.yml. */
const TOLD_BEFORE_MS = 30 * DAY_MS;

const secretEnd = new Gauge({
  name: 'identity_provider_secret_end_timestamp_seconds',
  help: 'When the client secret of an identity provider ends, if it is a JWT',
  labelNames: ['provider'] as const,
});

/** Tells of client secrets that end: at the start, and every day. */
@Injectable()
export class ProviderSecretEnds extends PeriodicWorker {
  private readonly ends: { id: string; end: Date }[];

  constructor(settings: Settings, schema: SchemaCompatibility) {
    super(
      { everyMs: DAY_MS, failure: 'The ends of secrets could not be told', isEverywhere: true },
      settings,
      schema,
    );
    const { identityProviders } = settings;
    this.ends = identityProviders.flatMap(({ id, clientSecretEndsAt: end }) => (end ? [{ id, end }] : []));
    for (const { id, end } of this.ends) secretEnd.set({ provider: id }, end.getTime() / 1000);
  }

  override onApplicationBootstrap(): void {
    void super.onApplicationBootstrap();
    this.warn();
  }

  protected work(): void {
    this.warn();
  }

  warn(now = Date.now()): void {
    for (const { id, end } of this.ends) {
      if (end.getTime() > now + TOLD_BEFORE_MS) continue;
      const [secret, day] = [
        `The client_secret of the identity provider ${id}`,
        end.toISOString().slice(0, 10),
      ];
      this.logger.warn(
        end.getTime() > now
          ? `${secret} ends on ${day}. Put a new one into IDENTITY_PROVIDERS before that, or nobody can log in through it.`
          : `${secret} ended on ${day}: nobody can log in through it. Put a new one into IDENTITY_PROVIDERS.`,
      );
    }
  }
}
