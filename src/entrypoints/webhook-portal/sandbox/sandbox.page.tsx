import type { VNode } from 'preact';
import type { SandboxFaultEntity } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { REQUEST_FAULTS } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { FAULTS_MAX } from '#access/sandbox-faults/sandbox-faults.service.js';
import { DRIVERS_PER_OWNER, SEED_MAX, WAITING_PER_OWNER, type Driver } from '#events/sandbox/driver.js';
import { SelectField, TextField, type FieldErrors, type FieldValues } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { Moment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { ConsentForm, DriverEndings, DriverForms, SessionForm, type FormState } from './driver-forms.js';
import { ACTIONS } from '#platform/web/layout/page-head.js';
import type { SeenDriver } from './chosen-driver-view.js';
import type { PortalPage } from '../frame/portal-layout.js';

const PATH = '/portal/sandbox';
/** The query parameter with which a script asks for the changing part only. */
export const ONLY_LIVE = { name: 'part', value: 'live' };

export interface SandboxPageProps {
  drivers: Driver[];
  /** The driver whose part is shown. */
  chosen: Driver | undefined;
  /** How a feature shows the driver and the faults. */
  view: SeenDriver | undefined;
  faults: SandboxFaultEntity[];
  /** The form that was refused, and what is wrong with it. */
  failed?: { form: string; errors: FieldErrors };
  /** What was typed into it. */
  values?: FieldValues;
}

/** The drivers of the sandbox, what the chosen one can do, and faults. */
export const sandboxPage = (props: SandboxPageProps): PortalPage => {
  const { drivers, chosen, view, faults, failed, values } = props;
  const of: FormState = (form, defaults = {}) =>
    failed?.form === form ? { values: { ...values }, errors: failed.errors } : { values: defaults };
  return {
    title: 'Sandbox',
    part: 'sandbox',
    isLive: view !== undefined,
    hasActions: true,
    children: (
      <>
        {chosen ? (
          <>
            <DriverTabs drivers={drivers} chosen={chosen} />
            <Chosen driver={chosen} view={view} of={of} />
            {!view && <FaultsLeft faults={faults} />}
            <details class="more" open={failed !== undefined && !ON_STAGE.includes(failed.form)}>
              <summary>More</summary>
              <ul class="entries entries-beside" role="list">
                <DriverForms driver={chosen} of={of} waitingMax={WAITING_PER_OWNER} />
                <li>
                  <h3>Faults: refresh</h3>
                  <FailRefresh chosen={chosen} of={of} />
                </li>
                <li>
                  <h3>Another driver</h3>
                  <NewDriver of={of} isQuiet />
                </li>
                <DriverEndings driver={chosen} of={of} />
              </ul>
              <p class="fine-print">
                Driver <code class="id">{chosen.id}</code>, seed {chosen.seed}. {waitingText(chosen.waiting)}
              </p>
            </details>
          </>
        ) : (
          <>
            <p class="empty">There are no drivers yet. Create the first one.</p>
            <div id={ACTIONS} tabIndex={-1}>
              <NewDriver of={of} />
            </div>
            {!view && <FaultsLeft faults={faults} />}
            <details class="more" open={failed !== undefined && failed.form !== 'drivers'}>
              <summary>More</summary>
              <ul class="entries entries-beside" role="list">
                <li>
                  <h3>Faults: requests</h3>
                  <FailRequests chosen={undefined} of={of} />
                </li>
                <li>
                  <h3>Faults: refresh</h3>
                  <FailRefresh chosen={undefined} of={of} />
                </li>
              </ul>
            </details>
          </>
        )}
        <p class="fine-print">
          Drivers, vehicles and charging sessions here are invented; tokens, deliveries, signatures and limits
          are the real thing. Drivers are shared by all your clients in the sandbox. A fault is for 1 to{' '}
          {FAULTS_MAX} requests to the endpoints for users, notifications, events and portal links; what is
          not used within an hour ends.
        </p>
      </>
    ),
  };
};

/** The part that our script reloads: the drivers and the chosen one, as on the page. */
export const livePage = ({ drivers, chosen, view }: SandboxPageProps): PortalPage => ({
  title: 'Sandbox',
  part: 'sandbox',
  children: (
    <>
      <DriverTabs drivers={drivers} chosen={chosen} />
      {view?.car}
      {view?.power}
      {view?.sent}
    </>
  ),
});

/** Their forms are not folded. */
const ON_STAGE = ['sessions', 'fail_requests'];

/** The stage: the car and what starts its session, what is sent, and what can go wrong. */
const Chosen = ({
  driver,
  view,
  of,
}: Pick<SandboxPageProps, 'view'> & { driver: Driver; of: FormState }): VNode => (
  <section id={ACTIONS} tabIndex={-1} aria-label={driver.name}>
    {!driver.hasConsent && <ConsentForm driver={driver} of={of} />}
    <div class="live">
      <div>
        {view?.car}
        <SessionForm driver={driver} of={of} />
        {view?.power}
      </div>
      <div>
        {view?.sent}
        <FailRequests chosen={driver} of={of} />
      </div>
    </div>
  </section>
);

const NewDriver = ({ of, isQuiet }: { of: FormState; isQuiet?: boolean }): VNode => (
  <PageForm action={`${PATH}/drivers`} {...of('drivers')} submit="Create driver" isQuiet={isQuiet} noValidate>
    <TextField name="name" label="Name" hint="Optional." />
    <TextField
      name="seed"
      label="Seed"
      inputMode="numeric"
      hint={`Optional, 1 to ${SEED_MAX}. The same seed gives the same vehicle and the same sessions. At most ${DRIVERS_PER_OWNER} drivers.`}
    />
  </PageForm>
);

interface FaultFormProps {
  chosen: Driver | undefined;
  of: FormState;
}

/** Lets requests of the client’s program fail. */
const FailRequests = ({ chosen, of }: FaultFormProps): VNode => (
  <PageForm
    class="filters"
    action={`${PATH}/fail_requests`}
    hidden={{ chosen: chosen?.id }}
    {...of('fail_requests', { kind: '503', requests: '1' })}
    submit="Fail next requests"
    isQuiet
    noValidate
  >
    <SelectField
      name="kind"
      label="Answer"
      options={REQUEST_FAULTS.map((value) => ({ value, label: ANSWERS[value] }))}
    />
    <TextField name="requests" label="How many requests" inputMode="numeric" />
  </PageForm>
);

const FailRefresh = ({ chosen, of }: FaultFormProps): VNode => (
  <PageForm
    action={`${PATH}/fail_refresh`}
    hidden={{ chosen: chosen?.id }}
    {...of('fail_refresh')}
    submit="Fail next refresh"
    isQuiet
  >
    <p>
      The next refresh of this client is refused, and its grant ends. What is not used within an hour ends.
    </p>
  </PageForm>
);

const waitingText = (count: number): string => {
  if (count === 0) return 'No events wait.';
  return count === 1 ? 'One event waits.' : `${count.toLocaleString('en')} events wait.`;
};

const ANSWERS = {
  '401': '401: the access token has expired',
  '429': '429: the limit is reached',
  '503': '503: the service is unavailable',
};

function FaultsLeft({ faults }: Pick<SandboxPageProps, 'faults'>): VNode | null {
  if (faults.length === 0) return null;
  return (
    <ul>
      {faults.map(({ kind, remaining, expiresAt }) => (
        <li>
          {kind === 'refresh'
            ? 'The next refresh fails'
            : `The next ${remaining === 1 ? 'request is' : `${remaining} requests are`} answered with ${kind}`}
          , until <Moment at={expiresAt} />.
        </li>
      ))}
    </ul>
  );
}

interface DriverTabsProps {
  drivers: Driver[];
  /** The driver whose part of the page is shown. */
  chosen: Driver | undefined;
}

/** The drivers of the sandbox; each leads to its part of the page. */
const DriverTabs = ({ drivers, chosen }: DriverTabsProps): VNode => (
  <nav class="sub-nav" id="drivers" data-live-part aria-label="Drivers">
    <ul role="list">
      {drivers.map(({ id, name, hasConsent, isRunning }) => (
        <li>
          <a href={`/portal/sandbox?driver=${id}`} aria-current={id === chosen?.id ? 'page' : undefined}>
            <bdi>{name}</bdi>
          </a>{' '}
          {isRunning && <State tone="good">Session running</State>}
          {!hasConsent && <State tone="plain">No consent</State>}
        </li>
      ))}
    </ul>
  </nav>
);
