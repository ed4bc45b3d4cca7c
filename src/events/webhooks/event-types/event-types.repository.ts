import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThanOrEqual, Repository, type QueryDeepPartialEntity } from 'typeorm';
import { batched } from '#platform/database/queries/batched.js';
import { EventTypeEntity, EventTypeVersionEntity, type VersionedEventType } from './event-type.entity.js';

/** What the admin API sets of a type. */
export type EventTypeChanges = Pick<
  EventTypeEntity,
  'name' | 'scope' | 'description' | 'translations' | 'sample' | 'resource'
>;

@Injectable()
export class EventTypesRepository {
  constructor(
    @InjectRepository(EventTypeEntity) private readonly types: Repository<EventTypeEntity>,
    @InjectRepository(EventTypeVersionEntity) private readonly versions: Repository<EventTypeVersionEntity>,
  ) {}

  /** The types that services publish, by name. */
  listOfServices(): Promise<VersionedEventType[]> {
    return this.readAll({ publisher: 'services' });
  }

  private readAll(where: Partial<Pick<EventTypeEntity, 'publisher'>>): Promise<VersionedEventType[]> {
    return this.types
      .createQueryBuilder('type')
      .where(where)
      .leftJoinAndMapMany('type.versions', EventTypeVersionEntity, 'version', 'version.type = type.name')
      .orderBy('type.name')
      .addOrderBy('version.version')
      .getMany() as Promise<VersionedEventType[]>;
  }

  private readonly readOnce = batched<'all', VersionedEventType[]>(async (keys) => {
    const types = await this.readAll({});
    return keys.map(() => types);
  });

  /** The whole catalogue, by name. Concurrent calls share a statement. */
  list(): Promise<VersionedEventType[]> {
    return this.readOnce('all');
  }

  /** These types, which keep their scopes until the transaction ends. */
  hold(names: string[]): Promise<EventTypeEntity[]> {
    return this.types
      .createQueryBuilder('type')
      .where('type.name = ANY (:names)', { names })
      .orderBy('type.name')
      .setLock('pessimistic_read')
      .getMany();
  }

  /** Creates the type; false if there is one with its name. */
  async insertNew(type: EventTypeChanges): Promise<boolean> {
    const { raw } = await this.types
      .createQueryBuilder()
      .insert()
      // Instances recognize a type by its revision, so a removed type that is created again starts with a higher one.
      .values({
        ...row<EventTypeEntity>({ ...type, publisher: 'services' }),
        revision: () => "extract(epoch FROM now() - timestamptz '2020-01-01Z')::integer",
      })
      .orIgnore()
      .returning('name')
      .execute();
    return (raw as unknown[]).length === 1;
  }

  /** The type with its versions, locked until the transaction ends; publishing is not blocked. */
  async lock(name: string): Promise<VersionedEventType | undefined> {
    const type = await this.types.findOne({ where: { name }, lock: { mode: 'for_no_key_update' } });
    if (!type) return undefined;
    const versions = await this.versions.find({ where: { type: name }, order: { version: 'ASC' } });
    return Object.assign(type, { versions });
  }

  /** Changes a locked type, and raises its revision. */
  async update(name: string, changes: Partial<EventTypeChanges>): Promise<void> {
    await this.types
      .createQueryBuilder()
      .update()
      .set({ ...row<EventTypeEntity>(changes), revision: () => 'revision + 1' })
      .where('name = :name', { name })
      .execute();
  }

  /** With its versions, and with its tests, which partners can ask for before anything is published. */
  async delete(name: string): Promise<void> {
    await this.types.manager.query('DELETE FROM events WHERE type = $1 AND test', [name]);
    await this.types.delete({ name });
  }

  async insertVersion(
    version: Pick<EventTypeVersionEntity, 'type' | 'version' | 'schema' | 'draft' | 'revision'>,
  ): Promise<void> {
    await this.versions.insert(row<EventTypeVersionEntity>({ ...version, usedAt: null }));
  }

  /** Changes a version that nothing was published with; false if something was. */
  async changeUnused({
    type,
    version,
    ...changes
  }: Pick<EventTypeVersionEntity, 'type' | 'version' | 'schema' | 'draft' | 'revision'>): Promise<boolean> {
    const { affected } = await this.versions.update(
      { type, version, usedAt: IsNull() },
      row<EventTypeVersionEntity>(changes),
    );
    return affected === 1;
  }

  /** Records that the version is used, after which it cannot change; does nothing if it has changed since it was read. */
  async markUsed({ type, version, revision }: EventTypeVersionEntity): Promise<void> {
    await this.versions
      .createQueryBuilder()
      .update()
      .set({ usedAt: () => 'now()' })
      .where({ type, version, usedAt: IsNull(), draft: false, revision: LessThanOrEqual(revision) })
      .execute();
  }

  /** Whether an endpoint subscribes to the type. */
  async isSubscribed(name: string): Promise<boolean> {
    // The query builder of the endpoints' own repository cannot search in an array.
    const found: unknown[] = await this.types.manager.query(
      'SELECT 1 FROM webhook_endpoints WHERE $1 = ANY (event_types) AND deleted_at IS NULL LIMIT 1',
      [name],
    );
    return found.length > 0;
  }
}

/** TypeORM's type for writes mistakes the members of a JSON column for columns. */
const row = <E extends object>(values: Partial<E>): QueryDeepPartialEntity<E> =>
  values as QueryDeepPartialEntity<E>;
