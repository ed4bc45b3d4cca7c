import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type EventTypeVersionEntity, currentVersion, type VersionedEventType } from './event-type.entity.js';
import { compileSchema, type SchemaBreak, type SchemaCheck } from './event-schema.js';
import { EventTypesRepository } from './event-types.repository.js';
import { idAt } from './schema-parts.js';
import { violation, type Violations } from '#platform/http/problems/violation.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';

/** The parts of an event that its type decides about. */
export interface Publishing {
  type: string;
  /** Undefined for the current version. */
  version?: number;
  data: object;
}

/** The result of validating an event against its type. */
export interface EventVerdict {
  /** The revision of the type that was used; 0 for an unknown type. */
  revision: number;
  version: number;
  /** The id of what the event is about; null if events of its type are not numbered. */
  resourceId: string | null;
  /** Why it cannot be published at all. */
  violations?: Violations;
  /** Where its data breaks the schema. */
  broken?: SchemaBreak;
  /** The version, if it is not known to be in use yet. */
  unused?: EventTypeVersionEntity;
}

const NOT_KNOWN: EventVerdict = { revision: 0, version: 1, resourceId: null };
const COMPILED = 500;

/**
 * Validates events by the catalogue in memory, so that publishing needs no further query. The statement that stores an event
 * compares the revision: if the catalogue has changed since it was read, the event is validated again.
 */
@Injectable()
export class EventValidation {
  private readonly logger = new Logger(EventValidation.name);
  private types: Map<string, VersionedEventType> | undefined;
  private readonly checks = new LRUCache<string, SchemaCheck>({ max: COMPILED });

  constructor(private readonly repository: EventTypesRepository) {}

  /** Validates by the catalogue as it was last read. */
  async validate(publishing: Publishing): Promise<EventVerdict> {
    const types = this.types ?? (await this.read());
    return this.validateBy(types, publishing);
  }

  /** Reads the catalogue again first. */
  async validateByCurrentTypes(publishing: Publishing): Promise<EventVerdict> {
    return this.validateBy(await this.read(), publishing);
  }

  /** Makes later validations use the current catalogue. */
  async readAgain(): Promise<void> {
    await this.read();
  }

  /**
   * Call before storing an event: marks the version as used, so that it no longer changes. Writes once for each version, in a transaction
   * of its own, because all publishers would wait for one that does not end.
   */
  async beginUse({ unused }: EventVerdict): Promise<void> {
    if (!unused || unused.usedAt !== null) return;
    await outsideTransaction(() => this.repository.markUsed(unused));
    // If it has changed, so has the revision, and the event is validated again.
    unused.usedAt = new Date();
  }

  private async read(): Promise<Map<string, VersionedEventType>> {
    const types = await outsideTransaction(() => this.repository.list());
    this.types = new Map(
      types.filter(({ publisher }) => publisher === 'services').map((type) => [type.name, type]),
    );
    return this.types;
  }

  private validateBy(types: Map<string, VersionedEventType>, publishing: Publishing): EventVerdict {
    const type = types.get(publishing.type);
    if (!type) return NOT_KNOWN;
    const { revision, resource } = type;
    const resourceId = resource === null ? null : idAt(resource, publishing.data);
    const wanted = publishing.version;
    const found =
      wanted === undefined
        ? currentVersion(type)
        : type.versions.find(({ version, draft }) => version === wanted && !draft);
    if (!found) {
      const violations: Violations =
        wanted === undefined
          ? { type: [violation('type_without_version')] }
          : { version: [violation('not_publishable_version')] };
      return { revision, version: 0, resourceId, violations };
    }
    const broken = this.checkOf(found)(publishing.data);
    return {
      revision,
      version: found.version,
      resourceId,
      ...(broken ? { broken } : {}),
      ...(found.usedAt === null ? { unused: found } : {}),
    };
  }

  private checkOf(version: EventTypeVersionEntity): SchemaCheck {
    const key = `${version.type} ${version.version} ${version.revision}`;
    let check = this.checks.get(key);
    if (!check) this.checks.set(key, (check = this.compile(version)));
    return check;
  }

  private compile({ type, version, schema }: EventTypeVersionEntity): SchemaCheck {
    try {
      return compileSchema(schema);
    } catch (error) {
      // Another build accepted this schema, so events are accepted unchecked.
      this.logger.error(
        `The schema of ${type}, version ${version}, cannot be used: ${(error as Error).message}`,
      );
      return () => undefined;
    }
  }
}
