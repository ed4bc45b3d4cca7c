import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { SandboxFaultEntity, type FaultKind } from './sandbox-fault.entity.js';

const IS_LEFT = 'remaining > 0 AND expires_at > now()';

@Injectable()
export class SandboxFaultsRepository {
  constructor(
    @InjectRepository(SandboxFaultEntity) private readonly faults: Repository<SandboxFaultEntity>,
  ) {}

  /** Sets what fails next, in place of what would have. */
  async set(
    fault: Pick<SandboxFaultEntity, 'clientId' | 'target' | 'kind' | 'remaining'>,
    ttl: number,
  ): Promise<void> {
    await this.faults
      .createQueryBuilder()
      .insert()
      .values({ ...fault, expiresAt: () => `now() + make_interval(secs => ${Math.trunc(ttl)})` })
      .orUpdate(['kind', 'remaining', 'expires_at'], ['client_id', 'target'])
      .execute();
  }

  /** Uses one up with one guarded write, so that each fails exactly one request; undefined if none is left. */
  async use(clientId: string, target: SandboxFaultEntity['target']): Promise<FaultKind | undefined> {
    const { raw } = await this.faults
      .createQueryBuilder()
      .update()
      .set({ remaining: () => 'remaining - 1' })
      .where(`client_id = :clientId AND target = :target AND ${IS_LEFT}`, { clientId, target })
      .returning('kind')
      .execute();
    return (raw as { kind: FaultKind }[])[0]?.kind;
  }

  /** What is left for a client. */
  left(clientId: string): Promise<SandboxFaultEntity[]> {
    return this.faults
      .createQueryBuilder('fault')
      .where('fault.clientId = :clientId AND fault.remaining > 0 AND fault.expiresAt > now()', { clientId })
      .orderBy('fault.target')
      .getMany();
  }
}
