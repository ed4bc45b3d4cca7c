import type { INestApplicationContext, Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { NewClientDto, NewSecretDto, toNewClient } from '../admin/api/clients/admin-clients.dto.js';
import { NewUserDto, toNewUser } from '../admin/api/users/admin-users.dto.js';
import { SERVICE_ACTOR } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '../clients/client-rules.js';
import { ClientsService } from '../clients/clients.service.js';
import { migrate } from '../database/migrations/migrate.js';
import { notFound } from '../http/problems/problem.js';
import { RequestValidationPipe } from '../http/validation/validation.pipe.js';
import { GrantsService } from '../tokens/grants.service.js';
import { PurgeService } from '../tokens/purge.service.js';
import { TokenKeysService } from '../tokens/token-keys.service.js';
import { AuthenticatorAppsService } from '../users/factors/authenticator-apps.service.js';
import { SecondFactorService } from '../users/factors/second-factor.service.js';
import { MailsService } from '../mail/mails.service.js';
import { PasswordLinksService } from '../users/passwords/password-links.service.js';
import { UsersService } from '../users/accounts/users.service.js';
import { EndpointResealService } from '../webhooks/endpoints/endpoint-reseal.service.js';
import { resealCanary, verifyEncryptionKeys } from '../webhooks/signing/encryption-canary.js';

/** The options of a command as given on the command line; each may be repeated. */
export type Options = Record<string, string[] | undefined>;

export interface Command {
  /** What follows the name: an argument in angle brackets, options with their values. */
  usage: string;
  summary: string;
  argument?: string;
  options: { name: string; required?: boolean; repeatable?: boolean }[];
  run(app: INestApplicationContext, argument: string, options: Options): Promise<object>;
}

/** A command that needs only the database, whatever its schema. */
export interface DatabaseCommand extends Omit<Command, 'run'> {
  runOn(databaseUrl: string, options: Options, say: (line: string) => void): Promise<object>;
}

/** Validates the members by the rules of the admin API; throws its 400 problem. */
const checked = <T extends object>(rules: Type<T>, members: object): Promise<T> =>
  new RequestValidationPipe().transform(members, { type: 'body', metatype: rules }) as Promise<T>;

const one = (options: Options, name: string): string | undefined => options[name]?.[0];

/** Commands for operators without a browser. They call the same services as the admin API. */
export const COMMANDS: Record<string, Command> = {
  'make-operator': {
    usage: '--email ADDRESS [--name NAME]',
    summary: 'Create an operator with the role admin, and a one-time link to set the password',
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
  'make-admin': {
    usage: '<email>',
    summary: 'Make an existing user an admin, enabled: the way in when everybody is locked out',
    argument: 'email',
    options: [],
    async run(app, email) {
      const users = app.get(UsersService);
      const user = await users.findByEmail(email);
      if (!user) throw notFound('No user has this email address. Use make-operator to create one.');
      const admin = { role: 'operator', operatorRole: 'admin', enabled: true } as const;
      const { id, operatorRole } = await users.update(user.id, admin, SERVICE_ACTOR);
      return { id, operator_role: operatorRole };
    },
  },
  'register-client': {
    usage:
      '--name NAME --owner USER_ID --scope SCOPE… --grant-type GRANT_TYPE… [--redirect-uri URI…] [--type confidential|public]',
    summary: 'Register a client; its secret is printed only once',
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
    summary: 'Create a new secret for a client; previous ones stay valid for a day by default',
    argument: 'client_id',
    options: [{ name: 'expire-previous-in' }],
    async run(app, clientId, options) {
      const given = one(options, 'expire-previous-in') ?? String(DEFAULT_SECRET_OVERLAP_SECONDS);
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
    summary: 'Revoke every grant of a user',
    argument: 'user_id',
    options: [],
    run: async (app, userId) => ({
      revoked: await app.get(GrantsService).revokeForUser(userId, SERVICE_ACTOR),
    }),
  },
  'reset-second-factor': {
    usage: '<user_id>',
    summary:
      'Remove the passkeys, the authenticator app and the recovery codes of a user, and end the sessions',
    argument: 'user_id',
    options: [],
    async run(app, userId) {
      await app.get(SecondFactorService).reset(userId, undefined, SERVICE_ACTOR);
      return { reset: userId };
    },
  },
  purge: {
    usage: '',
    summary: 'Remove what has expired, as the service does every minute',
    options: [],
    run: async (app) => ({ removed: await app.get(PurgeService).purge() }),
  },
  reseal: {
    usage: '[--lost-key KEY_ID]',
    summary:
      'After a change of ENCRYPTION_KEY: re-encrypt what ENCRYPTION_KEYS_PREVIOUS can still decrypt; with the id of a lost key, give up what it encrypted',
    options: [{ name: 'lost-key' }],
    async run(app, _argument, options) {
      const [database, { encryptionKeys }] = [app.get(DataSource), app.get(Settings)];
      const lostKey = one(options, 'lost-key');
      if (lostKey === undefined) await verifyEncryptionKeys(database, encryptionKeys);
      const all = [
        await app.get(EndpointResealService).reseal(),
        await app.get(TokenKeysService).reseal(),
        await app.get(AuthenticatorAppsService).reseal(),
        await app.get(MailsService).reseal(),
      ];
      await resealCanary(database, encryptionKeys, lostKey);
      // Tokens signed with an unreadable key can no longer be verified; a new key signs from now on.
      if (lostKey !== undefined) await app.get(TokenKeysService).revokeUnreadable();
      return {
        resealed: all.reduce((sum, { resealed }) => sum + resealed, 0),
        unreadable: all.flatMap(({ unreadable }) => unreadable),
      };
    },
  },
  'token-keys': {
    usage: '',
    summary: 'List the keys that tokens are signed with',
    options: [],
    async run(app) {
      const keys = await app.get(TokenKeysService).list();
      return { keys: keys.map(({ id, state, createdAt }) => ({ id, state, created_at: createdAt })) };
    },
  },
  'rotate-token-key': {
    usage: '',
    summary:
      'Sign new tokens with a new key, as the service does every 90 days; tokens of the old one stay valid',
    options: [],
    run: async (app) => ({ id: await app.get(TokenKeysService).rotate() }),
  },
  'revoke-token-key': {
    usage: '<id>',
    summary: 'Revoke a leaked key: every token that it signed stops working immediately',
    argument: 'id',
    options: [],
    async run(app, id) {
      await app.get(TokenKeysService).revoke(Number(id));
      return { revoked: Number(id), signs: (await app.get(TokenKeysService).signing()).id };
    },
  },
};

/** Commands that an operator runs before the service can start. */
export const DATABASE_COMMANDS: Record<string, DatabaseCommand> = {
  migrate: {
    usage: '[--service-role ROLE]',
    summary:
      'Run the database migrations, also while instances serve; the role gets only the privileges that the service needs',
    options: [{ name: 'service-role' }],
    runOn: async (databaseUrl, options, say) => ({
      migrations_run: await migrate(databaseUrl, undefined, {
        serviceRole: one(options, 'service-role'),
        say,
      }),
    }),
  },
};
