import type { VNode } from 'preact';
import { BURST_MAX, PAST_DAYS_MAX, type Driver } from '#events/sandbox/driver.js';
import { SelectField, TextField, type FieldErrors, type FieldValues } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';

/** The values and errors of a form, by its name. */
export type FormState = (
  form: string,
  defaults?: FieldValues,
) => { values: FieldValues; errors?: FieldErrors };

interface DriverFormsProps {
  driver: Driver;
  of: FormState;
  waitingMax: number;
}

const pathOf = (driver: Driver, part: string): string => `/portal/sandbox/drivers/${driver.id}/${part}`;

/** Starts a session: the one thing to do here, once there is a consent. */
export const SessionForm = ({ driver, of }: Omit<DriverFormsProps, 'waitingMax'>): VNode => (
  <PageForm
    class="filters"
    action={pathOf(driver, 'sessions')}
    {...of('sessions', { speed: '60' })}
    submit="Start session"
    isQuiet={!driver.hasConsent}
  >
    <SelectField
      name="speed"
      label="Speed"
      options={[
        { value: '1', label: 'real time' },
        { value: '60', label: '60 times faster' },
      ]}
    />
  </PageForm>
);

/** The consent of the driver, which is granted or withdrawn. Granting comes before everything else. */
export const ConsentForm = ({ driver, of }: Omit<DriverFormsProps, 'waitingMax'>): VNode =>
  driver.hasConsent ? (
    <PageForm
      action={pathOf(driver, 'consent')}
      hidden={{ do: 'withdraw' }}
      {...of('consent')}
      submit="Withdraw consent"
      isQuiet
    >
      <p>
        Shares {driver.scopes.length === 0 ? 'nothing' : driver.scopes.join(', ')} with this client.
        Withdrawing ends its tokens for the driver.
      </p>
    </PageForm>
  ) : (
    <PageForm
      action={pathOf(driver, 'consent')}
      hidden={{ do: 'grant' }}
      {...of('consent')}
      submit="Grant consent"
    >
      <p>The driver shares nothing with this client. Events go only to clients with the consent.</p>
    </PageForm>
  );

/** The other actions of the chosen driver, but for those that end something. */
export function DriverForms({ driver, of, waitingMax }: DriverFormsProps): VNode {
  const form = (part: string, title: string, name: string, value: string, label: string, hint: string) => (
    <li>
      <h3>{title}</h3>
      <PageForm
        action={pathOf(driver, part)}
        {...of(part, { [name]: value })}
        submit={`Send ${title.toLowerCase()}`}
        isQuiet
        noValidate
      >
        <TextField name={name} label={label} inputMode="numeric" hint={hint} />
      </PageForm>
    </li>
  );
  const ofPastDays = `1 to ${PAST_DAYS_MAX}: a session for each, with its own times, sent at once. At most ${waitingMax.toLocaleString('en')} events wait.`;
  return (
    <>
      {form('past_days', 'Past days', 'days', '7', 'Days', ofPastDays)}
      {form('events', 'Burst', 'count', '100', 'Events', `1 to ${BURST_MAX}, sent at once.`)}
    </>
  );
}

/** What ends something of the chosen driver. */
export const DriverEndings = ({ driver, of }: Omit<DriverFormsProps, 'waitingMax'>): VNode => (
  <>
    {driver.hasConsent && (
      <li>
        <h3>Consent</h3>
        <ConsentForm driver={driver} of={of} />
      </li>
    )}
    <li>
      <h3>Delete</h3>
      <PageForm action={pathOf(driver, 'delete')} {...of('delete')} submit="Delete driver" isDanger>
        <p>
          Erases the driver with all consents and tokens. Clients with the consent are told that it was
          withdrawn.
        </p>
      </PageForm>
    </li>
  </>
);
