import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import type { Actor } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { newUlid, USER_ID_PATTERN } from '#platform/secrets/ids.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { DRIVERS_PER_OWNER, SEED_MAX, type Driver, type Sandbox } from './driver.js';
import { DriversRepository } from './drivers.repository.js';
import { nameOf } from './generator/vehicle.js';

export interface NewDriver {
  name?: string;
  seed?: number;
}

/** The drivers of a sandbox (contract §19): users who are nobody, shared by the sandbox clients of one owner. */
@Injectable()
export class DriversService {
  constructor(
    private readonly repository: DriversRepository,
    private readonly users: UsersService,
    private readonly consents: ConsentsService,
    private readonly approvals: ConsentApprovals,
    private readonly clients: ClientsService,
    private readonly scopes: ScopesService,
  ) {}

  list(sandbox: Sandbox, page: PageRequest): Promise<Page<Driver>> {
    return this.repository.list(sandbox, page);
  }

  /** All of them, of whom there are not many. */
  async listAll(sandbox: Sandbox): Promise<Driver[]> {
    return (await this.repository.list(sandbox, { size: DRIVERS_PER_OWNER })).items;
  }

  /** The driver, if it is one of the owner's; otherwise a 404 problem. */
  async get(sandbox: Sandbox, id: string): Promise<Driver> {
    const found = USER_ID_PATTERN.test(id) ? await this.repository.list(sandbox, { size: 1 }, id) : undefined;
    return found?.items[0] ?? driverNotFound();
  }

  /** Creates a driver; throws a 409 problem beyond 50 of one owner. */
  async create(sandbox: Sandbox, input: NewDriver, actor: Actor): Promise<Driver> {
    const id = await this.insert(sandbox, input, actor, (count) => {
      if (count < DRIVERS_PER_OWNER) return true;
      throw conflict(`A sandbox can have at most ${DRIVERS_PER_OWNER} drivers. Delete one first.`);
    });
    return this.get(sandbox, id!);
  }

  /** Creates the first driver; nothing if there is one already. */
  async createFirst(sandbox: Sandbox, actor: Actor): Promise<void> {
    await this.insert(sandbox, {}, actor, (count) => count === 0);
  }

  /** Erases the driver, as a user is erased. */
  async delete(sandbox: Sandbox, id: string, actor: Actor): Promise<void> {
    await this.get(sandbox, id);
    await this.users.erase(id, actor);
  }

  /** Gives the client the driver's consent: to these scopes, or to all that it may have. */
  async consent(sandbox: Sandbox, id: string, scopes: string[] | undefined, actor: Actor): Promise<void> {
    await this.get(sandbox, id);
    const wanted = scopes ?? (await this.grantable(sandbox.clientId));
    await this.approvals.record(sandbox.clientId, id, wanted, null, actor);
  }

  /** Throws a 404 problem if there is no active consent. */
  async withdraw(sandbox: Sandbox, id: string, actor: Actor): Promise<void> {
    await this.get(sandbox, id);
    await this.consents.revoke(sandbox.clientId, id, actor);
  }

  private async grantable(clientId: string): Promise<string[]> {
    const client = await this.clients.get(clientId);
    const known = await this.scopes.describe(client.scopes);
    return known.filter(({ audience }) => audience === 'partner').map(({ name }) => name);
  }

  private insert(
    { ownerId }: Sandbox,
    { name, seed = randomInt(1, SEED_MAX + 1) }: NewDriver,
    actor: Actor,
    mayBe: (count: number) => boolean,
  ): Promise<string | undefined> {
    return this.users.createBy(async (insert) => {
      if (!(await this.repository.lockOwner(ownerId))) return undefined;
      if (!mayBe(await this.repository.count(ownerId))) return undefined;
      const { id } = await insert(
        {
          email: `${newUlid().toLowerCase()}@sandbox.invalid`,
          name: name ?? nameOf(seed),
          passwordHash: null,
          sandboxOwnerId: ownerId,
        },
        actor,
      );
      await this.repository.insert({ userId: id, ownerId, seed });
      return id;
    });
  }
}

export const driverNotFound = (): never => {
  throw notFound('There is no driver with this id in this sandbox.');
};
