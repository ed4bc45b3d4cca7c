import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { AuditService, changesBetween, type Actor, type AuditEntry } from '#records/audit/audit.service.js';
import { auditViewOf } from '#records/audit/audit-view.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound, validationFailed, type Problem } from '#platform/http/problems/problem.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { translationViolations } from '#access/scopes/purposes/purpose-words.js';
import { inOrder, translationsAfter } from '#access/scopes/translations.js';
import { acceptSchema, compileSchema, SchemaError, type SchemaCheck } from './event-schema.js';
import {
  EventTypeEntity,
  EventTypeVersionEntity,
  currentVersion,
  type VersionedEventType,
} from './event-type.entity.js';
import { EventTypesRepository, type EventTypeChanges } from './event-types.repository.js';
import { idAt } from './schema-parts.js';
import { violation, type Violations } from '#platform/http/problems/violation.js';

/** A version as an operator writes it. */
export interface NewVersion {
  schema: Record<string, unknown>;
  draft: boolean;
  /** A new sample of the type, in case its present one does not fit the schema. */
  sample?: Record<string, unknown>;
}

/** A type with all of its versions, the first one first. */
export type WholeEventType = EventTypeChanges & { versions: Omit<NewVersion, 'sample'>[] };

/** Changes of the catalogue of event types (contract §21). Every change is an audit event in its transaction. */
@Injectable()
export class EventCatalogueService {
  constructor(
    private readonly repository: EventTypesRepository,
    private readonly scopes: ScopesService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /**
   * Creates or changes a type. Without `translations`, the existing ones stay unless the description changes. Throws 400 with
   * `field_errors`, with `onlyNew` also for a name that another one has; 409 for a type that the service publishes itself, and for a new
   * scope while endpoints subscribe to it.
   */
  async putType(
    { translations, ...given }: Omit<EventTypeChanges, 'translations'> & { translations?: object },
    actor: Actor,
    { onlyNew = false }: { onlyNew?: boolean } = {},
  ): Promise<{ created: boolean }> {
    return this.transactions.run(async () => {
      await this.checkType(given, translations);
      const created = await this.repository.insertNew({
        ...given,
        translations: inOrder(translations ?? {}),
      });
      const before = await this.lock(given.name);
      const changes = { ...given, translations: translationsAfter(before, { ...given, translations }) };
      const difference = changesBetween(auditView(before), auditView(changes));
      // The same again is a form that was sent twice.
      if (onlyNew && !created && difference) throw validationFailed({ name: [violation('taken_name')] });
      if (!created && difference) {
        this.checkSample(before, changes.sample);
        if (before.scope !== changes.scope && (await this.repository.isSubscribed(changes.name))) {
          throw subscribed();
        }
        await this.repository.update(changes.name, changes);
      }
      if (created || difference) {
        await this.audit.record(actor, {
          action: created ? 'event_type.created' : 'event_type.updated',
          subjectId: changes.name,
          ...(created ? { after: auditView(changes) } : difference),
        });
      }
      return { created };
    });
  }

  /**
   * Creates the next version, or changes one that nothing was published with (409); with `onlyNew`, none at all (409). Throws 400 with
   * `field_errors` for a schema that is not accepted, or that the sample breaks, unless it is a draft.
   */
  async putVersion(
    name: string,
    version: number,
    written: NewVersion,
    actor: Actor,
    { onlyNew = false }: { onlyNew?: boolean } = {},
  ): Promise<{ created: boolean }> {
    const check = checkOfWritten(written);
    return this.transactions.run(async () => {
      const type = await this.lock(name);
      const before = type.versions.find((each) => each.version === version);
      if (!before && version !== type.versions.length + 1) {
        throw validationFailed({ version: [violation('next_version', { next: type.versions.length + 1 })] });
      }
      const { schema, draft, sample } = written;
      const isSame =
        before?.draft === draft &&
        isDeepStrictEqual(before.schema, schema) &&
        (sample === undefined || isDeepStrictEqual(type.sample, sample));
      if (isSame) return { created: false };
      if (before && onlyNew) throw conflict('Someone else has created this version. Open it to change it.');
      if (!draft) refuseSample(check, sample ?? type.sample, sample ? 'sample' : 'schema');
      const others = type.versions.filter((each) => each.version !== version);
      const versions = [...others, { version, schema, draft }].toSorted((a, b) => a.version - b.version);
      const current = currentVersion({ versions });
      // Another version may be the current one, or become it.
      if (current && current.version !== version) {
        refuseSample(compileSchema(current.schema), sample ?? type.sample, sample ? 'sample' : 'draft');
      }
      if (sample && type.resource !== null && idAt(type.resource, sample) === null) {
        throw validationFailed({ sample: [violation('no_id_in_sample', { pointer: type.resource })] });
      }
      const row = { type: name, version, schema, draft, revision: type.revision + 1 };
      if (!before) await this.repository.insertVersion(row);
      else if (!(await this.repository.changeUnused(row))) {
        throw usedVersion('this version');
      }
      await this.repository.update(name, sample ? { sample } : {});
      await this.audit.record(actor, {
        action: before ? 'event_type.version_updated' : 'event_type.version_created',
        subjectId: name,
        ...(before ? { before: versionView(before) } : {}),
        after: { ...versionView(row), ...(sample ? { sample } : {}) },
      });
      return { created: !before };
    });
  }

  /**
   * A type with all of its versions: the sample fits the current one. Throws as `putType` and `putVersion` do,
   * and 400 for fewer versions than there are.
   */
  putWhole({ versions, ...type }: WholeEventType, actor: Actor): Promise<void> {
    return this.transactions.run(async () => {
      await this.checkType(type, type.translations);
      const checks = versions.map((version, n) => checkOfWritten(version, `versions.${n}.`));
      const current = versions.findLastIndex(({ draft }) => !draft);
      if (current >= 0) refuseSample(checks[current]!, type.sample, 'sample');
      const created = await this.repository.insertNew(type);
      const before = await this.lock(type.name);
      const count = before.versions.length;
      if (versions.length < count)
        throw validationFailed({ versions: [violation('fewer_versions', { count })] });
      const [was, is] = [auditView(before), auditView(type)];
      const changed = Object.keys(is).filter((member) => !isDeepStrictEqual(was[member], is[member]));
      if (changed.includes('scope') && (await this.repository.isSubscribed(type.name))) throw subscribed();
      const entry = { subjectType: 'event_type', subjectId: type.name } as const;
      const pick = (view: object) =>
        Object.fromEntries(Object.entries(view).filter(([k]) => changed.includes(k)));
      const entries: AuditEntry[] = created
        ? [{ ...entry, action: 'event_type.created', after: is }]
        : changed.length > 0
          ? [{ ...entry, action: 'event_type.updated', before: pick(was), after: pick(is) }]
          : [];
      for (const [n, { schema, draft }] of versions.entries()) {
        const old = before.versions[n];
        if (old?.draft === draft && isDeepStrictEqual(old.schema, schema)) continue;
        const row = { type: type.name, version: n + 1, schema, draft, revision: before.revision + 1 };
        if (!old) await this.repository.insertVersion(row);
        else if (!(await this.repository.changeUnused(row))) throw usedVersion(`version ${n + 1}`);
        entries.push({
          ...entry,
          action: old ? 'event_type.version_updated' : 'event_type.version_created',
          ...(old ? { before: versionView(old) } : {}),
          after: versionView(row),
        });
      }
      await this.repository.update(type.name, type);
      await this.audit.recordAll(actor, entries);
    });
  }

  /** Removes a type. Throws 409 while endpoints subscribe, and once something was published with it. */
  delete(name: string, actor: Actor): Promise<void> {
    return this.transactions.run(async () => {
      const type = await this.lock(name);
      if (type.versions.some(({ usedAt }) => usedAt)) throw conflict('Events of this type were published.');
      if (await this.repository.isSubscribed(name)) {
        throw conflict('Endpoints subscribe to this event type.');
      }
      await this.repository.delete(name);
      await this.audit.record(actor, {
        action: 'event_type.deleted',
        subjectType: 'event_type',
        subjectId: name,
        before: auditView(type),
      });
    });
  }

  private async lock(name: string): Promise<VersionedEventType> {
    const type = await this.repository.lock(name);
    if (!type) throw notFound('There is no event type with this name.');
    if (type.publisher === 'itself') {
      throw conflict('The service publishes this event type itself, so it cannot be changed.');
    }
    return type;
  }

  private async checkType(
    { scope, resource, sample }: Omit<EventTypeChanges, 'translations'>,
    translations: object | undefined,
  ): Promise<void> {
    // Locked, as by those that change its audience: they look for types that need it.
    const [known] = await this.scopes.hold([scope!]);
    const violations: Violations = {
      ...translationViolations(translations ?? {}),
      ...(known?.audience === 'partner' ? {} : { scope: [violation('not_partner_scope')] }),
      ...(resource === null || idAt(resource, sample) !== null
        ? {}
        : { resource: [violation('resource_without_id')] }),
    };
    if (Object.keys(violations).length > 0) throw validationFailed(violations);
  }

  private checkSample(type: VersionedEventType, sample: Record<string, unknown>): void {
    const current = currentVersion(type);
    if (current) refuseSample(compileSchema(current.schema), sample, 'sample');
  }
}

const subscribed = (): Problem =>
  conflict('Endpoints subscribe to this event type, so its scope cannot change.');

const usedVersion = (what: string): Problem =>
  conflict(`Events were published with ${what}, so it cannot change. Create the next one.`);

/** `at`: where the version stands. */
function checkOfWritten({ schema, draft, sample }: NewVersion, at = ''): SchemaCheck {
  if (draft && sample) throw validationFailed({ sample: [violation('sample_of_draft')] });
  try {
    return acceptSchema(schema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw validationFailed({ [`${at}schema`]: [violation('refused_schema', { why: error.message })] });
  }
}

/** Throws a 400 problem with an error of the member that has to change. */
function refuseSample(check: SchemaCheck, sample: object, member: 'sample' | 'schema' | 'draft'): void {
  const broken = check(sample);
  if (!broken) return;
  const place = `sample${broken.path.slice('data'.length)}`;
  throw validationFailed({ [member]: [violation('does_not_fit', { place, why: broken.message })] });
}

const auditView = auditViewOf(
  EventTypeEntity,
  {
    description: 'description',
    translations: [
      'translations',
      (translations) => (Object.keys(translations).length > 0 ? inOrder(translations) : undefined),
    ],
    scope: 'scope',
    resource: 'resource',
    sample: 'sample',
  },
  {
    name: 'the subject of the event',
    publisher: 'never changes',
    revision: 'counts the events of the type',
  },
);

const versionView = auditViewOf(
  EventTypeVersionEntity,
  { version: 'version', schema: 'schema', draft: 'draft' },
  {
    type: 'the subject of the event',
    revision: 'counts the events of the type',
    usedAt: 'set by publishing, which changes nothing about the version',
    createdAt: 'the time of event_type.version_created',
  },
);
