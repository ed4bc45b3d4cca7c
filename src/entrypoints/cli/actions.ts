import type { INestApplicationContext, Type } from '@nestjs/common';
import { ConsentImportService } from '#access/consents/import/consent-import.service.js';
import { DataSource } from 'typeorm';
import { NewUserDto } from '#entrypoints/admin/api/users/admin-users.dto.js';
import { AuditEventView } from '#entrypoints/admin/api/audit-events/admin-audit-events.dto.js';
import { AuditService, SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { migrate, schemaDifferencesOf } from '#platform/database/migrations/migrate.js';
import type { LockWait } from '#platform/database/migrations/migration-lock.js';
import { badRequest, notFound } from '#platform/http/problems/problem.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { RequestRecordsService } from '#records/requests/request-records.service.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import { AuthenticatorAppsService } from '#access/users/factors/authenticator-apps.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { MailsService } from '#records/mail/mails.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { USER } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { EndpointResealService } from '#events/webhooks/endpoints/endpoint-reseal.service.js';
import { resealCanary, verifyEncryptionKeys } from '#events/webhooks/signing/encryption-canary.js';
import type { RequestRecordEntity } from '#records/requests/request-record.entity.js';
import { one, textOfFile, type Action, type Options } from './command.js';
import { print, Printed } from './output.js';
import { exportWords, importWords } from './words.js';
import type { COMMANDS, DATABASE_COMMANDS } from './commands.js';

/** A refused request as it is written for another system: neither a person nor an address. */
const RefusalView = {
  of: (record: RequestRecordEntity) => ({
    id: record.id,
    occurred_at: record.occurredAt.toISOString(),
    request_id: record.requestId,
    client_id: record.clientId,
    method: record.method,
    route: record.route,
    status: record.status,
    error: record.error,
    kind: record.refusedKind,
    reason: record.refused,
    milliseconds: record.milliseconds,
    injected: record.injected,
  }),
};

/** Needs only the database, whatever its schema. */
type DatabaseAction = (databaseUrl: string, options: Options, wait: LockWait) => Promise<object>;

/** Validates the members by the rules of the admin API; throws its 400 problem. */
const checked = <T extends object>(rules: Type<T>, members: object): Promise<T> =>
  new RequestValidationPipe().transform(members, { type: 'body', metatype: rules }) as Promise<T>;

const lineOf = (entry: object): string => `${JSON.stringify(entry)}\n`;

/** A link to set a password; none where nobody logs in with one. */
async function passwordLink(app: INestApplicationContext, userId: string): Promise<object> {
  if (!app.get(Settings).passwordSignIn) return {};
  return { set_password_at: await app.get(PasswordLinksService).create(userId, SERVICE_ACTOR) };
}

/** What the commands do. They call the same services as the admin API. */
export const ACTIONS: Record<keyof typeof COMMANDS, Action> = {
  async 'make-operator'(app, _argument, options) {
    const input = await checked(NewUserDto, {
      email: one(options, 'email'),
      name: one(options, 'name') ?? 'Operator',
      role: 'operator',
    });
    const { id } = await app.get(UsersService).create(USER.newOf(input), SERVICE_ACTOR);
    return { id, ...(await passwordLink(app, id)) };
  },
  async 'make-admin'(app, email) {
    const users = app.get(UsersService);
    const user = await users.findByEmail(email);
    if (!user) throw notFound('No user has this email address. Use make-operator to create one.');
    const admin = { role: 'operator', operatorRole: 'admin', enabled: true } as const;
    const { id, operatorRole } = await users.update(user.id, admin, SERVICE_ACTOR);
    // A new admin has no password any more; the address may be someone else's.
    return { id, operator_role: operatorRole, ...(await passwordLink(app, id)) };
  },
  async 'reset-second-factor'(app, userId) {
    await app.get(SecondFactorService).reset(userId, undefined, SERVICE_ACTOR);
    return { reset: userId };
  },
  async 'import-consents'(app, file, options) {
    const dryRun = options['dry-run'] !== undefined;
    const text = await textOfFile(file);
    return { dry_run: dryRun, ...(await app.get(ConsentImportService).run(text, { dryRun })) };
  },
  async words(app, _argument, options) {
    const file = one(options, 'import');
    const dryRun = options['dry-run'] !== undefined;
    if ((file === undefined) !== (options.export !== undefined) || (dryRun && file === undefined)) {
      throw badRequest('Give either --export or --import FILE, and --dry-run only with the file.');
    }
    if (file === undefined) return exportWords(app);
    return { dry_run: dryRun, ...(await importWords(app, await textOfFile(file), dryRun)) };
  },
  async audit(app, _argument, options) {
    const log = app.get(AuditService).follow(one(options, 'after'), options.follow !== undefined);
    for await (const { row, cursor } of log) await print(lineOf({ cursor, ...AuditEventView.of(row) }));
    return undefined;
  },
  async refusals(app, _argument, options) {
    const log = app
      .get(RequestRecordsService)
      .followRefusals(one(options, 'after'), options.follow !== undefined);
    for await (const { row, cursor } of log) await print(lineOf({ cursor, ...RefusalView.of(row) }));
    return undefined;
  },
  purge: async (app) => ({ removed: await app.get(PurgeService).purge() }),
  async reseal(app, _argument, options) {
    const [database, { encryptionKeys }] = [app.get(DataSource), app.get(Settings)];
    const lostKey = one(options, 'lost-key');
    if (lostKey === undefined) await verifyEncryptionKeys(database, encryptionKeys);
    const all = [
      await app.get(EndpointResealService).reseal(),
      await app.get(TokenKeysService).reseal(),
      await app.get(AuthenticatorAppsService).reseal(),
      await app.get(MailsService).reseal(),
      ...(await Promise.all(app.get(DomainQuestions).askAll('sealed.reseal'))),
    ];
    await resealCanary(database, encryptionKeys, lostKey);
    // Tokens signed with an unreadable key can no longer be verified; a new key signs from now on.
    if (lostKey !== undefined) await app.get(TokenKeysService).revokeUnreadable();
    return {
      resealed: all.reduce((sum, { resealed }) => sum + resealed, 0),
      unreadable: all.flatMap(({ unreadable }) => unreadable),
    };
  },
  async 'token-keys'(app) {
    const keys = await app.get(TokenKeysService).list();
    return { keys: keys.map(({ id, state, createdAt }) => ({ id, state, created_at: createdAt })) };
  },
  'rotate-token-key': async (app) => ({ id: await app.get(TokenKeysService).rotate() }),
  async 'revoke-token-key'(app, id) {
    await app.get(TokenKeysService).revoke(Number(id));
    return { revoked: Number(id), signs: (await app.get(TokenKeysService).signing()).id };
  },
};

export const DATABASE_ACTIONS: Record<keyof typeof DATABASE_COMMANDS, DatabaseAction> = {
  async migrate(databaseUrl, options, wait) {
    const run = await migrate(databaseUrl, undefined, { serviceRole: one(options, 'service-role'), ...wait });
    const differences = await schemaDifferencesOf(databaseUrl);
    const result = {
      migrations_run: run,
      ...(differences.length > 0 ? { schema_differences: differences } : {}),
    };
    return new Printed(`${JSON.stringify(result, null, 2)}\n`, differences.length > 0 ? 1 : 0);
  },
};
