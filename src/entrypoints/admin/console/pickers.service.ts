import { Injectable } from '@nestjs/common';
import { AuditService } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import type { Option } from '#platform/web/forms/field.js';
import { partyNames, type PartyNames } from './pages/lists.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';

/** With more options the page would be too large: the field then offers none, and takes any id. */
const MOST = 200;

interface Named {
  id: string;
  name: string;
  environment?: 'live' | 'sandbox';
}

const optionsOf = (found: Named[]): Option[] =>
  found.length > MOST
    ? []
    : found
        .map(({ id, name, environment }) => ({
          value: id,
          label: environment === 'sandbox' ? `${name} (sandbox)` : name,
        }))
        .sort((one, other) => one.label.localeCompare(other.label, 'en'));

/** The options of fields for ids, by name, and the names of ids in lists. */
@Injectable()
export class Pickers {
  constructor(
    private readonly accounts: UsersService,
    private readonly applications: ClientsService,
    private readonly webhooks: EndpointsService,
    private readonly audit: AuditService,
    private readonly types: EventTypesService,
  ) {}

  /** The names of users and clients with these ids. */
  namesOf(ids: readonly (string | null)[]): Promise<PartyNames> {
    return partyNames({ users: this.accounts, clients: this.applications }, ids);
  }

  async users(): Promise<Option[]> {
    return optionsOf(await this.accounts.firstNames(MOST + 1));
  }

  /** The actors offered in the filter of the audit log: operators and clients. Other people are found by their id. */
  async actors(): Promise<Option[]> {
    const operators = this.accounts.firstNames(MOST + 1, 'operators').then(optionsOf);
    return (await Promise.all([operators, this.clients()])).flat();
  }

  /** The actions that the audit log has. */
  async actions(): Promise<Option[]> {
    return (await this.audit.actions(MOST)).map((action) => ({ value: action, label: action }));
  }

  async clients(): Promise<Option[]> {
    return optionsOf(await this.applications.firstNames(MOST + 1));
  }

  async eventTypes(): Promise<Option[]> {
    return (await this.types.list()).map(({ name }) => ({ value: name, label: name }));
  }

  async endpoints(): Promise<Option[]> {
    return optionsOf(await this.webhooks.firstNames(MOST + 1));
  }
}
