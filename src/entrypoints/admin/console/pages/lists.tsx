import type { ComponentChildren, VNode } from 'preact';
import type { Option } from '#platform/web/forms/field.js';
import { ListFilter, type FilterField } from '#platform/web/forms/form.js';
import { ReadyFilters, type ReadyFilter } from '#platform/web/tables/ready-filters.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import { useMayUse } from '#platform/web/layout/may-use.js';
import { LiveList, CsvLink } from '#platform/web/tables/live-list.js';
import { PagedTable, type PagedTableProps } from '#platform/web/tables/table.js';
import type { FilteredList } from '../filtered-list.js';
import { linkOf } from './resource-link.js';
import type { ClientsService } from '#access/clients/clients.service.js';
import { isId } from '#platform/secrets/ids.js';
import type { UsersService } from '#access/users/accounts/users.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { Environment } from '#access/users/accounts/environment.js';

/** The user with this email or id: people type emails, links contain ids. */
export async function namedUser(users: UsersService, text: string): Promise<UserEntity | null> {
  if (text.includes('@')) return users.findByEmail(text);
  return isId('user', text) ? users.find(text) : null;
}

/** The names of users and clients by id; deleted ones are missing. */
export type PartyNames = ReadonlyMap<string, string>;

/** Reads the names of these users and clients in two queries. */
export async function partyNames(
  { users, clients }: { users: UsersService; clients: ClientsService },
  ids: readonly (string | null)[],
): Promise<PartyNames> {
  const of = (prefix: 'user' | 'clnt'): string[] => [
    ...new Set(ids.filter((id): id is string => id !== null && isId(prefix, id))),
  ];
  const found = await Promise.all([users.namesOf(of('user')), clients.namesOf(of('clnt'))]);
  return new Map(found.flat().map(({ id, name }) => [id, name]));
}

/** The path with those parameters that have a value. */
export function pathWith(path: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => !!pair[1]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

export interface FilteredTableProps<T> extends Omit<PagedTableProps<T>, 'page'> {
  list: FilteredList<T>;
  submit?: string;
  /** The fields of the filter. */
  filter: readonly FilterField[];
  /** Filters to choose with one click. */
  ready?: readonly ReadyFilter[];
  /** The path, with filter and page, of a list that updates itself. */
  livePath?: string;
  /** The path of the list as a file. */
  csvPath?: string;
}

/** A list with its filter; if that is invalid, only the filter with its errors. */
export function FilteredTable<T extends { id: string }>(props: FilteredTableProps<T>): VNode {
  const { list, path, submit, filter, ready = [], livePath, csvPath, ...table } = props;
  const rows = list.page && (
    <PagedTable
      {...table}
      isOneLine
      page={list.page}
      path={pathWith(path, list.filter)}
      keyOf={livePath === undefined ? undefined : ({ id }) => id}
    />
  );
  return (
    <>
      <ReadyFilters path={path} filters={ready} filter={list.filter} />
      <ListFilter
        path={path}
        values={list.filter}
        errors={list.errors}
        alert="The list is not shown: the filter is invalid."
        submit={submit}
        fields={filter}
      />
      {rows && livePath !== undefined ? <LiveList path={livePath}>{rows}</LiveList> : rows}
      {csvPath !== undefined && list.page && list.page.items.length > 0 && (
        <CsvLink path={pathWith(csvPath, list.filter)} />
      )}
    </>
  );
}

/** A field of a filter: all, or those in one of these states. */
export const stateFilter = <S extends string>(
  states: readonly S[],
  labelOf: (state: S) => string = String,
): FilterField => ({
  name: 'state',
  label: 'State',
  options: [{ value: '', label: 'All' }, ...states.map((value) => ({ value, label: labelOf(value) }))],
});

/** A field of a filter by a client or endpoint: picked by name, or typed as an ID where there are too many to offer. */
export const pickFilter = (name: string, label: string, offers: Option[]): FilterField =>
  offers.length === 0
    ? { name, label: `${label} ID` }
    : { name, label, options: [{ value: '', label: 'Any' }, ...offers] };

export interface NameLinkProps {
  href: string;
  name: string;
  /** The environment of a client or user; one in a sandbox is marked. */
  environment?: 'live' | 'sandbox';
}

/** A link with a user-chosen name. */
export const NameLink = ({ href, name, environment }: NameLinkProps): VNode => (
  <>
    <a href={href}>
      <bdi>{name}</bdi>
    </a>
    {environment === 'sandbox' && (
      <>
        {' '}
        <SandboxBadge of={{ environment }} />
      </>
    )}
  </>
);

/** A link in a row of a table; screen readers also hear what the row is about. Nothing if the role may not follow it. */
export function RowLink({
  href,
  about,
  children,
}: {
  href: string;
  about: string;
  children: string;
}): VNode | null {
  if (!useMayUse()('GET', href)) return null;
  return (
    <a href={href}>
      {children}
      <span class="visually-hidden"> {about}</span>
    </a>
  );
}

/** An id in copyable form. */
export const Id = ({ id }: { id: string }): VNode => <code class="id">{id}</code>;

interface PartyProps {
  id: string;
  names?: PartyNames;
}

/** A user or client, with a link to its page if it has one: by its name, or by its id if it has none. */
export const PartyName = ({ id, names }: PartyProps): VNode => {
  const name = names?.get(id);
  return <a href={linkOf(id)}>{name === undefined ? <Id id={id} /> : <bdi>{name}</bdi>}</a>;
};

/** The same where there is room for the id below the name. */
export const Party = ({ id, names }: PartyProps): VNode => (
  <>
    <PartyName id={id} names={names} />
    {names?.has(id) && (
      <span class="under">
        <Id id={id} />
      </span>
    )}
  </>
);

/** What the line of a row has no room for, once it is opened. */
export const RowDetails = ({ children }: { children: ComponentChildren }): VNode => (
  <details class="changes">
    <summary>Details</summary>
    <dl>{children}</dl>
  </details>
);

export const RowFact = ({ name, children }: { name: string; children: ComponentChildren }): VNode => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Short texts separated by commas, each in its own element. */
export const CommaList = ({ items, none = 'none' }: { items: string[]; none?: string }): VNode =>
  items.length === 0 ? (
    <span class="muted">{none}</span>
  ) : (
    <>
      {items.map((item, n) => (
        <>
          {n > 0 && ', '}
          <span>{item}</span>
        </>
      ))}
    </>
  );

/** A link to a page of another site, with its URL as the text. */
export const PageLink = ({ url }: { url: string }): VNode => (
  <a href={url} rel="noopener noreferrer">
    {url}
  </a>
);

/** The environment of a client or a user, in words. */
export const EnvironmentName = ({ of }: { of: { environment: Environment } }): VNode =>
  of.environment === 'sandbox' ? <SandboxBadge of={of} /> : <>live</>;

/** The choice of an environment in the filter of a list; `all` is what the list shows without one. */
export const environmentFilter = (all: 'Live and sandbox' | 'Live'): FilterField => ({
  name: 'environment',
  label: 'Environment',
  options: [
    { value: '', label: all },
    ...(all === 'Live' ? [] : [{ value: 'live', label: 'Live' }]),
    { value: 'sandbox', label: 'Sandbox' },
  ],
});
