import { TextArea, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { Table } from '#platform/web/tables/table.js';
import { ENGLISH_NAMES, LANGUAGES, type Language } from '#platform/language/languages.js';
import type { PurposeEntity } from '#access/scopes/purposes/purpose.entity.js';
import { ActionConfirmation } from '../pages/disconnection.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { RowLink } from '../pages/lists.js';
import { textsShown, type Texts } from './texts.js';
import { MissingLanguages } from './translations.js';

export const PURPOSES_PATH = '/admin/console/purposes';

/** Names of purposes need no encoding in a path. */
const purposePath = (name: string, action: 'edit' | 'delete'): string => `${PURPOSES_PATH}/${name}/${action}`;

const ABOVE = [{ href: PURPOSES_PATH, label: 'Purposes' }];

/** The form field with the words in a language; errors have the same name. */
export const wordsField = (language: Language): string => `words.${language}`;

/** The catalogue of purposes. */
export const purposesPage = (purposes: PurposeEntity[]): ConsolePage => ({
  part: 'purposes',
  title: 'Purposes',
  actions: <LinkButton href={`${PURPOSES_PATH}/new`}>Create purpose</LinkButton>,
  children: (
    <>
      <p>What clients want data for. Users see the words when they agree, and on their receipts.</p>
      {purposes.length === 0 ? (
        <p class="empty">There are no purposes yet.</p>
      ) : (
        <Table
          caption="Purposes"
          rows={purposes}
          columns={[
            { head: 'Name', cell: ({ name }) => <code>{name}</code> },
            { head: 'Words', cell: ({ words }) => words.en },
            {
              head: 'Languages',
              cell: ({ words }) => (
                <>
                  {LANGUAGES.filter((language) => words[language] !== undefined)
                    .map((language) => ENGLISH_NAMES[language])
                    .join(', ')}{' '}
                  <MissingLanguages words={words} />
                </>
              ),
              onPhone: 'unfolded',
            },
            {
              head: 'Actions',
              leadsTo: ({ name }) => ['GET', purposePath(name, 'edit')],
              onPhone: 'unfolded',
              cell: ({ name }) => (
                <>
                  <RowLink href={purposePath(name, 'edit')} about={name}>
                    Change
                  </RowLink>{' '}
                  <RowLink href={purposePath(name, 'delete')} about={name}>
                    Delete
                  </RowLink>
                </>
              ),
            },
          ]}
          unfolds
        />
      )}
    </>
  ),
});

export interface PurposeFormPageProps {
  /** Of a purpose that is there. */
  name?: string;
  values: Record<string, string>;
  /** Its words. */
  present?: Texts;
  errors?: FieldErrors;
}

/** The form for creating a purpose or changing its words. */
export const purposeFormPage = ({ name, values, present, errors }: PurposeFormPageProps): ConsolePage => ({
  part: 'purposes',
  title: name ?? 'Create purpose',
  above: ABOVE,
  children: (
    <ConsoleForm
      values={values}
      errors={errors}
      action={name === undefined ? `${PURPOSES_PATH}/new` : purposePath(name, 'edit')}
      hidden={present && textsShown(present)}
      submit="Save"
      cancel={PURPOSES_PATH}
    >
      {name === undefined && (
        <TextField name="name" label="Name" hint="For example route_planning. It cannot be changed later." />
      )}
      {LANGUAGES.map((language) => (
        <TextArea
          name={wordsField(language)}
          label={`Words in ${ENGLISH_NAMES[language]}`}
          hint={
            language === 'en'
              ? 'Shown to users on the consent page, such as “To plan routes with charging stops”.'
              : 'Optional. Without it, users read the English words.'
          }
        />
      ))}
    </ConsoleForm>
  ),
});

/** Explains the consequences before a purpose is deleted. */
export const deletePurposePage = ({ name, words }: PurposeEntity): ConsolePage => ({
  part: 'purposes',
  title: 'Delete purpose',
  above: ABOVE,
  children: (
    <ActionConfirmation
      question={
        <>
          Delete <code>{name}</code>?
        </>
      }
      consequences={[
        `Clients can no longer declare it: “${words.en}”`,
        'A purpose that a client declares cannot be deleted. Take it out of those clients first.',
        'Consents and receipts keep its name and the words that users saw.',
      ]}
      action={purposePath(name, 'delete')}
      submit="Delete purpose"
      cancel={PURPOSES_PATH}
    />
  ),
});
