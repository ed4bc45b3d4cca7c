import { Injectable } from '@nestjs/common';
import { AuditService, SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import type { Environment } from '#access/users/accounts/environment.js';
import type { FaultKind, RequestFault, SandboxFaultEntity } from './sandbox-fault.entity.js';
import { SandboxFaultsRepository } from './sandbox-faults.repository.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set where the answer is a fault that someone asked for, for the log of requests. */
    sandboxFault?: FaultKind;
  }
}

// Contract §19: those that are not used within an hour end.
const TTL_SECONDS = 3600;
/** Contract §19: the most requests that fail. */
export const FAULTS_MAX = 100;

interface FaultyClient {
  id: string;
  environment: Environment;
}

/** Faults that a partner asks for in the sandbox (contract §19). Nothing is looked up for live clients. */
@Injectable()
export class SandboxFaultsService {
  constructor(
    private readonly repository: SandboxFaultsRepository,
    private readonly grants: GrantsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** Sets what fails next, in place of what would have: the next refresh, or the next `count` requests. */
  async set(clientId: string, kind: FaultKind, count: number, actor: Actor): Promise<void> {
    const target = kind === 'refresh' ? 'refresh' : 'requests';
    await this.transactions.run(async () => {
      await this.repository.set({ clientId, target, kind, remaining: count }, TTL_SECONDS);
      await this.audit.record(actor, {
        action: 'sandbox.fault_set',
        subjectType: 'client',
        subjectId: clientId,
        after: { kind, count },
      });
    });
  }

  /** What still fails for a client. */
  left(clientId: string): Promise<SandboxFaultEntity[]> {
    return this.repository.left(clientId);
  }

  /** How this request of the client fails; undefined if it does not. */
  async useForRequest(client: FaultyClient): Promise<RequestFault | undefined> {
    if (client.environment === 'live') return undefined;
    return (await this.repository.use(client.id, 'requests')) as RequestFault | undefined;
  }

  /** Whether this refresh of the client fails: then its grant has ended, in the same transaction. */
  async useForRefresh(
    client: FaultyClient,
    grantId: string,
    { address, requestId }: Actor,
  ): Promise<boolean> {
    if (client.environment === 'live') return false;
    return this.transactions.run(async () => {
      if (!(await this.repository.use(client.id, 'refresh'))) return false;
      await this.grants.revokeIfLive(grantId, 'sandbox_fault', { ...SERVICE_ACTOR, address, requestId });
      return true;
    });
  }
}
