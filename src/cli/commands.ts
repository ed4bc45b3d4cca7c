import type { INestApplicationContext, Type } from '@nestjs/common';
import { NewClientDto, NewSecretDto, toNewClient } from '../admin/admin-clients.dto.js';
import { NewUserDto, toNewUser } from '../admin/admin-users.dto.js';
import { SERVICE_ACTOR } from '../audit/audit.service.js';
import { ClientsService } from '../clients/clients.service.js';
import { RequestValidationPipe } from '../http/validation.pipe.js';
import { GrantsService } from '../tokens/grants.service.js';
import { PurgeService } from '../tokens/purge.service.js';
import { PasswordLinksService } from '../users/password-links.service.js';
import { UsersService } from '../users/users.service.js';
import { EndpointResealService } from '../webhooks/endpoints/endpoint-reseal.service.js';

/** The options of a command as they were given; each may be given more than once. */
export type Options = Record<string, string[] | undefined>;

export interface Command {
  /** What stands behind the name: an argument in angle brackets, options with what they take. */
  usage: string;
  summary: string;
  argument?: string;
  options: { name: string; required?: boolean; repeatable?: boolean }[];
  run(app: INestApplicationContext, argument: string, options: Options): Promise<object>;
}

/** Holds the members against the rules of the admin API; throws its 400 problem. */
const checked = <T extends object>(rules: Type<T>, members: object): Promise<T> =>
  new RequestValidationPipe().transform(members, { type: 'body', metatype: rules }) as Promise<T>;

const one = (options: Options, name: string): string | undefined => options[name]?.[0];

/** What an operator without a browser can do; each runs by the services that the admin API uses. */
export const COMMANDS: Record<string, Command> = {
  'make-operator': {
    usage: '--email ADDRESS [--name NAME]',
    summary: 'Make a user with the role operator, and a one-time link to set the password',
    options: [{ name: 'email', required: true }, { name: 'name' }],
    async run(app, _argument, options) {
      const input = await checked(NewUserDto, {
        email: one(options, 'email'),
        name: one(options, 'name') ?? 'Operator',
        role: 'operator',
      });
      const user = await app.get(UsersService).create(toNewUser(input), SERVICE_ACTOR);
      return {
        id: user.id,
        set_password_at: await app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR),
      };
    },
  },
  'register-client': {
    usage:
      '--name NAME --owner USER_ID --scope SCOPE… --grant-type GRANT_TYPE… [--redirect-uri URI…] [--type confidential|public]',
    summary: 'Register a client; its secret is printed this once',
    options: [
      { name: 'name', required: true },
      { name: 'owner', required: true },
      { name: 'scope', required: true, repeatable: true },
      { name: 'grant-type', required: true, repeatable: true },
      { name: 'redirect-uri', repeatable: true },
      { name: 'type' },
    ],
    async run(app, _argument, options) {
      const input = await checked(NewClientDto, {
        name: one(options, 'name'),
        owner_id: one(options, 'owner'),
        type: one(options, 'type') ?? 'confidential',
        scopes: options.scope,
        grant_types: options['grant-type'],
        redirect_uris: options['redirect-uri'] ?? [],
      });
      const { client, secret } = await app.get(ClientsService).create(toNewClient(input), SERVICE_ACTOR);
      return { client_id: client.id, ...(secret === undefined ? {} : { client_secret: secret }) };
    },
  },
  'rotate-secret': {
    usage: '<client_id> [--expire-previous-in SECONDS]',
    summary: 'Make a new secret for a client; the ones before count for a day, unless said',
    argument: 'client_id',
    options: [{ name: 'expire-previous-in' }],
    async run(app, clientId, options) {
      const given = one(options, 'expire-previous-in') ?? '86400';
      const { expire_previous_in: seconds } = await checked(NewSecretDto, {
        expire_previous_in: /^\d+$/.test(given) ? Number(given) : given,
      });
      const { secret, previousSecretExpiresAt } = await app
        .get(ClientsService)
        .rotateSecret(clientId, seconds!, SERVICE_ACTOR);
      return { client_secret: secret, previous_secret_expires_at: previousSecretExpiresAt };
    },
  },
  'revoke-client': {
    usage: '<client_id>',
    summary: 'Revoke every grant and token of a client',
    argument: 'client_id',
    options: [],
    run: async (app, clientId) => ({
      revoked: await app.get(ClientsService).revokeTokens(clientId, SERVICE_ACTOR),
    }),
  },
  'revoke-user': {
    usage: '<user_id>',
    summary: 'Revoke every grant that a user gave',
    argument: 'user_id',
    options: [],
    run: async (app, userId) => ({
      revoked: await app.get(GrantsService).revokeForUser(userId, SERVICE_ACTOR),
    }),
  },
  purge: {
    usage: '',
    summary: 'Remove what has expired, as the service does every minute',
    options: [],
    run: async (app) => ({ removed: await app.get(PurgeService).purge() }),
  },
  reseal: {
    usage: '',
    summary: 'After a change of ENCRYPTION_KEY: seal afresh what ENCRYPTION_KEYS_PREVIOUS still opens',
    options: [],
    run: (app) => app.get(EndpointResealService).reseal(),
  },
};
