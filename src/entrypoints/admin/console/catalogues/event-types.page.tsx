import { SelectField, TextArea, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Json } from '#platform/web/tables/json.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import type { VNode } from 'preact';
import { ENGLISH_NAMES } from '#platform/language/languages.js';
import { TRANSLATED } from '#access/scopes/translations.js';
import { textsShown, type Texts } from './texts.js';
import { TranslationFields, translationValues } from './translations.js';
import { RowLink } from '../pages/lists.js';
import { currentVersion, type VersionedEventType } from '#events/webhooks/event-types/event-type.entity.js';

export const EVENT_TYPES_PATH = '/admin/console/event-types';

/** Names of event types need no encoding in a path. */
export const eventTypePath = (name: string): string => `${EVENT_TYPES_PATH}/${name}`;

const versionPath = (name: string, version: number): string => `${eventTypePath(name)}/versions/${version}`;

const publisherText = ({ publisher }: VersionedEventType): string =>
  publisher === 'itself' ? 'this service' : 'the company’s services';

/** The catalogue of event types. */
export function eventTypesPage({ types }: { types: VersionedEventType[] }): ConsolePage {
  return {
    part: 'event-types',
    title: 'Event types',
    actions: <LinkButton href={`${EVENT_TYPES_PATH}/new`}>Create event type</LinkButton>,
    children: (
      <Table
        caption="Event types"
        rows={types}
        columns={[
          {
            head: 'Type',
            cell: ({ name }) => (
              <a href={eventTypePath(name)}>
                <code class="whole">{name}</code>
              </a>
            ),
          },
          { head: 'Fires when', cell: ({ description }) => description },
          {
            head: 'Scope',
            cell: ({ scope }) => (scope ? <code class="whole">{scope}</code> : 'none'),
            onPhone: 'unfolded',
          },
          {
            head: 'Version',
            cell: (type) => currentVersion(type)?.version ?? 'none yet',
            onPhone: 'unfolded',
          },
          { head: 'Published by', cell: publisherText, onPhone: 'unfolded' },
        ]}
      />
    ),
  };
}

/** One event type with its sample, and each version with its schema. */
export function eventTypePage({ type }: { type: VersionedEventType }): ConsolePage {
  const { name, description, translations, scope, sample, resource, versions } = type;
  const isOurs = type.publisher === 'itself';
  const current = currentVersion(type);
  return {
    part: 'event-types',
    title: name,
    above: [{ href: EVENT_TYPES_PATH, label: 'Event types' }],
    actions: !isOurs && (
      <>
        <LinkButton href={`${eventTypePath(name)}/edit`}>Edit event type</LinkButton>
        <LinkButton look="quiet" href={versionPath(name, versions.length + 1)}>
          Create version
        </LinkButton>
      </>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['Fires when', description],
            ...TRANSLATED.flatMap((language): [string, VNode][] =>
              translations[language] === undefined
                ? []
                : [[`In ${ENGLISH_NAMES[language]}`, <span lang={language}>{translations[language]}</span>]],
            ),
            ['Scope', scope ? <code>{scope}</code> : 'none'],
            ['Published by', publisherText(type)],
            ['Numbered by', resource ? <code>{resource}</code> : 'not numbered'],
          ]}
        />
        <h2>Sample</h2>
        <Json text={JSON.stringify(sample)} label={`Sample of ${name}`} />
        <h2>Versions</h2>
        {versions.length === 0 && <p class="empty">No versions yet: nothing can be published.</p>}
        <ul class="entries" role="list">
          {versions.toReversed().map((version) => (
            <li>
              <div class="entry-head">
                <h3>Version {version.version}</h3>
                {version === current && <State tone="good">current</State>}
                {version.draft && <State tone="warn">draft</State>}
              </div>
              <p class="entry-meta">
                {version.usedAt
                  ? 'Events were published with it, so it does not change.'
                  : 'Not published yet.'}
              </p>
              {!isOurs && !version.usedAt && (
                <p>
                  <RowLink href={versionPath(name, version.version)} about={`version ${version.version}`}>
                    Change
                  </RowLink>
                </p>
              )}
              <details>
                <summary>
                  Schema<span class="visually-hidden"> of version {version.version}</span>
                </summary>
                <Json text={JSON.stringify(version.schema)} label={`Schema of version ${version.version}`} />
              </details>
            </li>
          ))}
        </ul>
      </>
    ),
  };
}

export interface EventTypeFields {
  name: string;
  description: string;
  /** By language. */
  translations: Record<string, string>;
  scope: string;
  sample: string;
  resource: string;
}

/** What its form says. */
export const eventTypeTexts = ({ translations, ...texts }: EventTypeFields): Texts => ({
  ...texts,
  ...translationValues(translations),
});

export interface EventTypeFormPageProps {
  action: string;
  fields: EventTypeFields;
  /** Of the type that is edited; undefined for a new one. */
  present?: EventTypeFields;
  /** Those that a type can need. */
  scopes: string[];
  errors?: FieldErrors;
}

/** The form for creating or editing an event type. */
export function eventTypeFormPage(props: EventTypeFormPageProps): ConsolePage {
  const { action, fields, present, scopes, errors } = props;
  const isNew = present === undefined;
  const back = isNew ? EVENT_TYPES_PATH : eventTypePath(fields.name);
  return {
    part: 'event-types',
    title: isNew ? 'Create event type' : `Edit ${fields.name}`,
    above: [{ href: back, label: isNew ? 'Event types' : fields.name }],
    children: (
      <ConsoleForm
        values={{ ...fields, translations: undefined, ...translationValues(fields.translations) }}
        errors={errors}
        action={action}
        hidden={present && textsShown(eventTypeTexts(present))}
        submit="Save"
        cancel={back}
      >
        {isNew && (
          <TextField
            name="name"
            label="Name"
            hint="For example vehicle.updated. It cannot be changed later."
            spellcheck={false}
          />
        )}
        <TextArea name="description" label="Description" hint="When it is sent. Shown to partners." />
        <TranslationFields />
        <SelectField
          name="scope"
          label="Scope"
          hint="It cannot be changed while endpoints subscribe."
          options={scopes.map((scope) => ({ value: scope, label: scope }))}
        />
        <TextArea
          name="sample"
          label="Sample"
          hint="An example of data, as JSON."
          rows={10}
          spellcheck={false}
        />
        <TextField
          name="resource"
          label="Resource"
          hint="Optional: a JSON Pointer to the id in data of what the event is about, such as /id. Its events are then numbered."
          spellcheck={false}
        />
      </ConsoleForm>
    ),
  };
}

export interface EventVersionFields {
  schema: string;
  sample: string;
  state: string;
}

/** What is saved of a version. */
export type SavedVersion = Omit<EventVersionFields, 'sample'>;

export interface EventVersionFormPageProps {
  name: string;
  version: number;
  fields: EventVersionFields;
  /** Of a version that is there. */
  present?: SavedVersion;
  errors?: FieldErrors;
}

/** The form for the next version, or for one that nothing was published with. */
export function eventVersionFormPage({
  name,
  version,
  fields,
  present,
  errors,
}: EventVersionFormPageProps): ConsolePage {
  return {
    part: 'event-types',
    title: `Version ${version}`,
    above: [
      { href: EVENT_TYPES_PATH, label: 'Event types' },
      { href: eventTypePath(name), label: name },
    ],
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={versionPath(name, version)}
        hidden={present && textsShown(present)}
        submit="Save"
        cancel={eventTypePath(name)}
      >
        <TextArea
          name="schema"
          label="Schema"
          hint="A JSON Schema (2020-12) of data. Once events are published with it, it cannot be changed."
          rows={20}
          spellcheck={false}
        />
        <TextArea
          name="sample"
          label="New sample"
          hint="Optional: if the schema does not fit the sample of the type."
          rows={6}
          spellcheck={false}
        />
        <SelectField
          name="state"
          label="State"
          options={[
            { value: 'published', label: 'Publish from now on' },
            { value: 'draft', label: 'Draft: nothing is published with it' },
          ]}
        />
      </ConsoleForm>
    ),
  };
}
