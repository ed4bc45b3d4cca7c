import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { Actor } from '#records/audit/audit.service.js';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { RedirectUriRequestEntity, type RedirectUriRequestState } from './redirect-uri-request.entity.js';

/** All given members must match. */
export interface RedirectUriRequestFilter {
  state?: RedirectUriRequestState;
  clientId?: string;
}

@Injectable()
export class RedirectUriRequestsRepository {
  constructor(
    @InjectRepository(RedirectUriRequestEntity)
    private readonly requests: Repository<RedirectUriRequestEntity>,
  ) {}

  /** Newest first. */
  list(
    { state, clientId }: RedirectUriRequestFilter,
    page: PageRequest,
  ): Promise<Page<RedirectUriRequestEntity>> {
    const query = this.requests.createQueryBuilder('request').where('true');
    if (state !== undefined) query.andWhere('request.state = :state', { state });
    if (clientId !== undefined) query.andWhere('request.clientId = :clientId', { clientId });
    return readPage(page, 'request.id', 'desc', query);
  }

  /** The requests of a user, newest first, up to a limit. */
  listBy(userId: string, limit: number): Promise<RedirectUriRequestEntity[]> {
    return this.requests.find({ where: { requestedBy: userId }, order: { id: 'DESC' }, take: limit });
  }

  find(id: string): Promise<RedirectUriRequestEntity | null> {
    return this.requests.findOneBy({ id });
  }

  countPending(clientId?: string): Promise<number> {
    const which = clientId === undefined ? {} : { clientId };
    return this.requests.countBy({ state: 'pending', ...which });
  }

  async insert(
    request: Pick<RedirectUriRequestEntity, 'id' | 'clientId' | 'action' | 'uri' | 'requestedBy'>,
  ): Promise<void> {
    await this.requests.insert({ ...request, state: 'pending' });
  }

  /** Decides a pending request once; undefined if it is not pending. */
  async decide(
    id: string,
    state: 'approved' | 'rejected',
    by: Actor,
    reason: string | null,
  ): Promise<RedirectUriRequestEntity | undefined> {
    const { affected } = await this.requests
      .createQueryBuilder()
      .update()
      .set({ state, reason, decidedByType: by.type, decidedById: by.id, decidedAt: () => 'now()' })
      .where("id = :id AND state = 'pending'", { id })
      .execute();
    return affected === 1 ? ((await this.find(id)) ?? undefined) : undefined;
  }
}

/** The number of requests that wait, by their partial index. */
export const PENDING_REQUESTS = `SELECT count(*)::int FROM redirect_uri_requests r WHERE r.state = 'pending'`;
