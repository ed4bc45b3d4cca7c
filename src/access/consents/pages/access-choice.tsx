import type { VNode } from 'preact';
import { useText } from '#platform/web/layout/say.js';
import type { AccessWords } from '../record/consent-words.js';

/** What an application always gets if the user agrees, and what the user chooses. */
export interface AccessChoiceProps {
  access: AccessWords[];
  /** Names of the scopes that this user consented to before. */
  given: readonly string[];
}

/** The name of the field with the scopes that the user chooses. */
export const OPTIONAL_SCOPE = 'optional_scope';

/** The list of what comes with an approval. */
export function NeededAccess({ access, given }: AccessChoiceProps): VNode | null {
  const t = useText();
  const needed = access.filter(({ optional }) => !optional);
  if (access.length === 0) return <p>{t('It does not ask for any data.')}</p>;
  if (needed.length === 0) return null;
  return (
    <>
      <h2 id="scopes-heading">{t('Requested access')}</h2>
      {/* Safari drops list semantics from lists without markers unless the role is given. */}
      <ul class="scopes" role="list" aria-labelledby="scopes-heading">
        {needed.map(({ scope, words }) => (
          <li>
            <CheckIcon />
            <div class="scope-text">
              <span class="scope-description">{words}</span>{' '}
              {given.includes(scope) && <span class="badge">{t('Already authorized')}</span>}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The optional parts. None is preselected, because consent needs an active choice. */
export function OptionalAccess({ access, given }: AccessChoiceProps): VNode | null {
  const t = useText();
  const optional = access.filter((each) => each.optional);
  if (optional.length === 0) return null;
  const isAll = optional.length === access.length;
  return (
    <fieldset class="choices switches">
      <legend>{isAll ? t('Choose what it may read') : t('It may also read, if you choose it')}</legend>
      {optional.map(({ scope, words }, index) => (
        <label for={`${OPTIONAL_SCOPE}-${index}`}>
          <input
            type="checkbox"
            id={`${OPTIONAL_SCOPE}-${index}`}
            name={OPTIONAL_SCOPE}
            value={scope}
            checked={given.includes(scope)}
          />
          <span class="scope-description">{words}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** What the application wants the data for; empty if it does not say. */
export const WhatFor = ({ purposes }: { purposes: readonly string[] }): VNode | null => {
  const t = useText();
  if (purposes.length === 0) return null;
  return (
    <>
      <h2>{t('What for')}</h2>
      <ul>
        {purposes.map((words) => (
          <li>{words}</li>
        ))}
      </ul>
    </>
  );
};

/** The same in one line, under the title of the page that asks. */
export const WhatForLine = ({ purposes }: { purposes: readonly string[] }): VNode | null => {
  const t = useText();
  if (purposes.length === 0) return null;
  return (
    <p class="purposes centred">
      {t('What for:')} {purposes.join(' · ')}
    </p>
  );
};

/** The scope names, for developers. */
export const ScopeNames = ({ access }: { access: AccessWords[] }): VNode | null => {
  const t = useText();
  if (access.length === 0) return null;
  return (
    <details class="fine-print">
      <summary>{t('Technical details')}</summary>
      <ul class="plain">
        {access.map(({ scope, words }) => (
          <li>
            {words} <code>{scope}</code>
          </li>
        ))}
      </ul>
    </details>
  );
};

const CheckIcon = (): VNode => (
  <svg
    class="scope-icon"
    viewBox="0 0 20 20"
    width="1.5rem"
    height="1.5rem"
    aria-hidden="true"
    focusable="false"
  >
    <path
      d="m5 10.5 3.4 3.4L15.5 6.6"
      fill="none"
      stroke="var(--pico-primary)"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
);
