import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ClientEntity } from '../client.entity.js';

@Injectable()
export class KnownResourcesRepository {
  constructor(@InjectRepository(ClientEntity) private readonly clients: Repository<ClientEntity>) {}

  /** The resource indicators of all enabled clients with this scope. They are few, and a partial index has them. */
  async all(scope: string): Promise<string[]> {
    const clients = await this.clients
      .createQueryBuilder('client')
      .select(['client.id', 'client.resourceIndicators'])
      .where("client.resourceIndicators <> '{}' AND client.enabled AND :scope = ANY (client.scopes)", {
        scope,
      })
      .orderBy('client.id')
      .getMany();
    return clients.flatMap(({ resourceIndicators }) => resourceIndicators);
  }
}
