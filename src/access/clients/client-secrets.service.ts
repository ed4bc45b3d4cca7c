import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict } from '#platform/http/problems/problem.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { usesKeys } from './client.entity.js';
import { ClientsRepository } from './clients.repository.js';
import { ClientsService, type Alongside } from './clients.service.js';
import type { SecretInfo } from './client-secret.entity.js';

export interface RotatedSecret {
  secret: string;
  /** Null if there was none before. */
  previousSecretExpiresAt: Date | null;
}

/** The secrets of confidential clients (contract §2): the newest one, and earlier ones that stay valid for a while. */
@Injectable()
export class ClientSecretsService {
  constructor(
    private readonly repository: ClientsRepository,
    private readonly clients: ClientsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly settings: Settings,
  ) {}

  /**
   * When they were created and when they expire, newest first; never the secrets themselves. Those that ended are kept with the client, so
   * that none of them can be given to it again, and are listed for `RETENTION_DAYS`.
   */
  list(clientId: string): Promise<SecretInfo[]> {
    return this.repository.secrets(clientId, this.settings.retentionDays);
  }

  /** Identifies the newest secret by its creation time. */
  newest(clientId: string): Promise<string> {
    return this.repository.newestSecret(clientId);
  }

  /**
   * Creates a secret, returned only this once; previous ones expire after at most `expirePreviousIn` seconds. With 0, the
   * client's portal links end too, with the sessions that they opened, but not those of members. A public client gets a 409 problem.
   */
  async rotate(
    clientId: string,
    expirePreviousIn: number,
    actor: Actor,
    alongside?: Alongside,
  ): Promise<RotatedSecret> {
    return (await this.run(clientId, expirePreviousIn, actor, { alongside }))!;
  }

  /** The same if `newest` still identifies the newest secret; undefined if it was rotated since. */
  rotateOnce(
    clientId: string,
    newest: string,
    expirePreviousIn: number,
    actor: Actor,
    alongside?: Alongside,
  ): Promise<RotatedSecret | undefined> {
    return this.run(clientId, expirePreviousIn, actor, { newest, alongside });
  }

  private run(
    clientId: string,
    expirePreviousIn: number,
    actor: Actor,
    { newest, alongside }: { newest?: string; alongside?: Alongside },
  ): Promise<RotatedSecret | undefined> {
    return this.transactions.run(async () => {
      const secret = newSecret('clientSecret');
      const client = await this.clients.lock(clientId);
      if (client.type === 'public') throw conflict('A public client has no secret.');
      if (usesKeys(client)) throw conflict('This client authenticates with keys, so it has no secret.');
      const digest = digestOf(secret);
      const until = await this.repository.addSecret(clientId, digest, expirePreviousIn, newest);
      if (until === undefined) return undefined;
      // Without an overlap the old secret is assumed to be compromised: its holder may have opened the portal.
      if (expirePreviousIn === 0) await this.events.say('client.secret_ended', clientId);
      await this.audit.record(actor, {
        action: 'client.secret_rotated',
        subjectId: clientId,
        after: { previous_secret_expires_at: until?.toISOString() ?? null },
      });
      await alongside?.(client);
      return { secret, previousSecretExpiresAt: until };
    });
  }

  /**
   * Ends a secret that has a newer one, and the portal links and the sessions that were opened with one: its holder may have
   * opened the portal. Throws a 409 problem if there is no such secret, or no longer.
   */
  end(clientId: string, name: string, actor: Actor, alongside?: Alongside): Promise<void> {
    return this.transactions.run(async () => {
      const client = await this.clients.lock(clientId);
      if (!(await this.repository.endSecret(clientId, name))) {
        throw conflict('This secret has ended already, or it is the newest one: rotate that instead.');
      }
      await this.events.say('client.secret_ended', clientId);
      await this.audit.record(actor, { action: 'client.secret_ended', subjectId: clientId });
      await alongside?.(client);
    });
  }
}
