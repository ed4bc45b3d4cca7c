import type { INestApplicationContext } from '@nestjs/common';
import path from 'node:path';
import { one, textOfFile, type Action, type Options } from '#entrypoints/cli/command.js';
import { Printed } from '#entrypoints/cli/output.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { applyCompany, exportCompany } from './apply-company.js';
import { textOf } from './company-differences.js';
import { companySchema } from './company-schema.js';
import { CompanyDocument } from './read-company.js';
import { SecretSource } from './secret-source.js';

/** The exit code of a dry run that finds something to change. */
const WOULD_CHANGE = 2;

/** The admin in whose name something is done; the service itself if none is named. Throws a 400 problem for anyone else. */
async function actorNamed(app: INestApplicationContext, email: string | undefined): Promise<Actor> {
  if (email === undefined) return SERVICE_ACTOR;
  const user = await app.get(UsersService).findByEmail(email);
  if (!user?.enabled || user.operatorRole !== 'admin')
    throw badRequest(`--as names an enabled admin by email address, and ${email} is none.`);
  return { type: 'user', id: user.id };
}

export const apply: Action = async (app, _argument, options, environment) => {
  const file = one(options, 'file');
  if (file === undefined) throw badRequest('The file is missing: -f company.yaml');
  const document = new CompanyDocument(file, await textOfFile(file));
  const secrets = new SecretSource(path.dirname(path.resolve(file)), environment);
  const dryRun = options['dry-run'] !== undefined;
  const actor = await actorNamed(app, one(options, 'as'));
  const asked = { actor, dryRun, prune: options.prune !== undefined };
  const changes = await applyCompany(app, document, secrets, asked);
  return new Printed(textOf(changes, { dryRun }), dryRun && changes.length > 0 ? WOULD_CHANGE : 0);
};

export const printCompany: Action = async (app) => new Printed(await exportCompany(app));

/** The JSON Schema of a company file, which needs no database. */
export const schemaIfAsked = ({ schema }: Options): object | undefined => schema && companySchema();
