import { Choices, TextArea, TextField, Tick, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { State } from '#platform/web/tables/state.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { textsShown, type Texts } from './texts.js';
import { MissingLanguages, TranslationFields, translationValues } from './translations.js';
import { RowLink } from '../pages/lists.js';

export const SCOPES_PATH = '/admin/console/scopes';

/** Scope names need no encoding in a path. */
export const scopePath = (name: string): string => `${SCOPES_PATH}/${name}/edit`;

/** The catalogue of scopes. */
export function scopesPage({ scopes }: { scopes: ScopeEntity[] }): ConsolePage {
  return {
    part: 'scopes',
    title: 'Scopes',
    actions: <LinkButton href={`${SCOPES_PATH}/new`}>Create scope</LinkButton>,
    children: (
      <Table
        caption="Scopes"
        rows={scopes}
        columns={[
          { head: 'Name', cell: ({ name }) => <code class="whole">{name}</code> },
          {
            head: 'Description',
            cell: ({ description }) => description,
            under: ({ meaningChangedAt, audience, translations }) => (
              <>
                {meaningChangedAt && (
                  <>
                    Users asked again since <RecentMoment at={meaningChangedAt} />{' '}
                  </>
                )}
                {audience === 'partner' && <MissingLanguages words={translations} />}
              </>
            ),
          },
          {
            head: 'Audience',
            cell: ({ audience }) =>
              audience === 'operator' ? (
                <State tone="warn">operators</State>
              ) : (
                <State tone="plain">partners</State>
              ),
            onPhone: 'beside',
          },
          {
            head: 'Actions',
            leadsTo: ({ name }) => ['GET', scopePath(name)],
            onPhone: 'unfolded',
            cell: ({ name }) => (
              <RowLink href={scopePath(name)} about={name}>
                Change
              </RowLink>
            ),
          },
        ]}
        unfolds
      />
    ),
  };
}

export interface ScopeFields {
  name: string;
  description: string;
  audience: string;
  meaning_changed: boolean;
  /** By language. */
  translations: Record<string, string>;
}

/** What its form says, but for the confirmation. */
export const scopeTexts = ({ description, audience, translations }: ScopeFields): Texts => ({
  description,
  audience,
  ...translationValues(translations),
});

export interface ScopeFormPageProps {
  action: string;
  fields: ScopeFields;
  /** Of the scope that is edited; undefined for a new one. */
  present?: ScopeFields;
  /** How long before the end of a consent its user is told. */
  noticeDays: number;
  errors?: FieldErrors;
}

/** The form for creating or editing a scope. */
export function scopeFormPage({
  action,
  fields,
  present,
  noticeDays,
  errors,
}: ScopeFormPageProps): ConsolePage {
  const isNew = present === undefined;
  return {
    part: 'scopes',
    title: isNew ? 'Create scope' : fields.name,
    above: [{ href: SCOPES_PATH, label: 'Scopes' }],
    children: (
      <ConsoleForm
        values={{ ...fields, translations: undefined, ...translationValues(fields.translations) }}
        errors={errors}
        action={action}
        hidden={present && textsShown(scopeTexts(present))}
        submit="Save"
        cancel={SCOPES_PATH}
      >
        {isNew && (
          <TextField name="name" label="Name" hint="For example vehicle:read. It cannot be changed later." />
        )}
        <TextArea
          name="description"
          label="Description"
          hint="Shown to users on the consent page, such as “See your vehicles: make, model and battery level”."
        />
        <TranslationFields />
        {!isNew && (
          <Tick
            name="meaning_changed"
            label="The meaning changed: users are asked again"
            hint={`Consents that hold this scope then end ${noticeDays === 1 ? 'a day' : `${noticeDays} days`} from now at the latest, with their tokens, unless their users renew them. Users and partners are told. Do not tick it if the new description says the same in better words.`}
          />
        )}
        <Choices
          name="audience"
          label="Audience"
          hint="It cannot be changed while a client holds the scope."
          type="radio"
          options={[
            { value: 'partner', label: 'Partners: users are asked for consent' },
            { value: 'operator', label: 'Operators: for the company’s own services' },
          ]}
        />
      </ConsoleForm>
    ),
  };
}
