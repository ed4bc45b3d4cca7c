import { Logger } from '@nestjs/common';
import { register } from 'prom-client';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import type { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import type { Settings } from '#platform/config/settings.js';
import { ProviderSecretEnds } from '#access/identity-providers/protocol/provider-secret-ends.service.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2027-03-01T12:00:00Z');

/** What a service says with providers whose secrets end so many days from now. */
const saidOf = (...days: (number | undefined)[]): string[] => {
  const identityProviders = days.map((inDays, n) => ({
    id: `provider-${n}`,
    clientSecretEndsAt: inDays === undefined ? undefined : new Date(NOW + inDays * DAY_MS),
  })) as IdentityProvider[];
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  new ProviderSecretEnds({ identityProviders } as Settings, {} as SchemaCompatibility).warn(NOW);
  return warn.mock.calls.map(([line]) => String(line));
};

describe('The end of a client secret that is a JWT', () => {
  beforeEach(() => jest.restoreAllMocks());

  it('is told from 30 days before it on, each time, and says what to do', () => {
    expect(saidOf(30, 0.5, 29)).toEqual([
      'The client_secret of the identity provider provider-0 ends on 2027-03-31. Put a new one into IDENTITY_PROVIDERS before that, or nobody can log in through it.',
      'The client_secret of the identity provider provider-1 ends on 2027-03-02. Put a new one into IDENTITY_PROVIDERS before that, or nobody can log in through it.',
      'The client_secret of the identity provider provider-2 ends on 2027-03-30. Put a new one into IDENTITY_PROVIDERS before that, or nobody can log in through it.',
    ]);
  });

  it('that is over says so', () => {
    expect(saidOf(-1)).toEqual([
      'The client_secret of the identity provider provider-0 ended on 2027-02-28: nobody can log in through it. Put a new one into IDENTITY_PROVIDERS.',
    ]);
  });

  it('that is further away, or is none, is not told', () => expect(saidOf(30.1, undefined, 180)).toEqual([]));

  it('is a metric, with which the alert asks', async () => {
    saidOf(10, ...Array.from<undefined>({ length: 9 }));
    const text = await register.getSingleMetricAsString('identity_provider_secret_end_timestamp_seconds');
    expect(text).toContain(`{provider="provider-0"} ${(NOW + 10 * DAY_MS) / 1000}`);
    expect(text).not.toContain('provider-9');
  });
});
