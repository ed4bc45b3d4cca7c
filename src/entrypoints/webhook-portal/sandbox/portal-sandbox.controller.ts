import { Param, UseGuards } from '@nestjs/common';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import type { Form } from '#platform/http/forms/form.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { REQUEST_FAULTS } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { FAULTS_MAX, SandboxFaultsService } from '#access/sandbox-faults/sandbox-faults.service.js';
import {
  BURST_MAX,
  PAST_DAYS_MAX,
  sandboxOf,
  SEED_MAX,
  SPEEDS,
  type Sandbox,
} from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { PlansService } from '#events/sandbox/plans.service.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { ChosenDriverView } from './chosen-driver-view.js';
import { PortalSandboxGuard } from './portal-sandbox.guard.js';
import { livePage, ONLY_LIVE, sandboxPage, type SandboxPageProps } from './sandbox.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';

const PATH = '/portal/sandbox';
const NAME_MAX = 200;

type Errors = Record<string, string>;
type Notice = Extract<PortalAnswer, { goTo: string }>['notice'];

/** The sandbox of the portal (contract §19): drivers, what they do, and faults. Only for clients in a sandbox. */
@UseGuards(PortalSandboxGuard)
@PortalPages('sandbox')
export class PortalSandboxController {
  constructor(
    private readonly drivers: DriversService,
    private readonly plans: PlansService,
    private readonly faults: SandboxFaultsService,
    private readonly limits: RateLimitsService,
    private readonly view: ChosenDriverView,
  ) {}

  /** `?driver=` chooses the driver that is shown; by default the newest. */
  @PortalGet('', 'viewer')
  async show(@Context() context: PortalContext): Promise<PortalAnswer> {
    const props = await this.read(context, context.query.get('driver'));
    const isPart = context.query.get(ONLY_LIVE.name) === ONLY_LIVE.value;
    return { page: isPart ? livePage(props) : sandboxPage(props) };
  }

  @PortalPost('drivers', 'nothing', 'developer')
  create(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form } = context;
    const name = form.get('name')?.trim() ?? '';
    const seed = optionalNumber(form, 'seed');
    const errors: Errors = {
      ...(Array.from(name).length > NAME_MAX || illegible(name) !== undefined
        ? { name: `Enter at most ${NAME_MAX} visible characters.` }
        : {}),
      ...wrong(seed, 'seed', 1, SEED_MAX),
    };
    return this.attempt(context, undefined, 'drivers', errors, async (sandbox) => {
      const input = { name: name === '' ? undefined : name, seed };
      const { id } = await this.drivers.create(sandbox, input, context.actor);
      return { driver: id, notice: 'driver_created' };
    });
  }

  @PortalPost('drivers/:id/sessions', 'nothing', 'developer')
  startSession(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const speed = SPEEDS.find((each) => String(each) === context.form.get('speed'));
    const errors: Errors = speed ? {} : { speed: 'Choose a speed.' };
    return this.attempt(context, id, 'sessions', errors, async (sandbox) => {
      await this.limits.countPortalSending(context.client);
      await this.plans.startSession(sandbox, id, speed!, context.actor);
      return { notice: 'session_started' };
    });
  }

  @PortalPost('drivers/:id/past_days', 'nothing', 'developer')
  sendPastDays(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const days = optionalNumber(context.form, 'days') ?? NaN;
    return this.attempt(context, id, 'past_days', wrong(days, 'days', 1, PAST_DAYS_MAX), async (sandbox) => {
      await this.limits.countPortalSending(context.client);
      await this.plans.sendPastDays(sandbox, id, days, context.actor);
      return { notice: 'past_days_sent' };
    });
  }

  @PortalPost('drivers/:id/events', 'nothing', 'developer')
  sendBurst(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const count = optionalNumber(context.form, 'count') ?? NaN;
    return this.attempt(context, id, 'events', wrong(count, 'count', 1, BURST_MAX), async (sandbox) => {
      await this.limits.countPortalSending(context.client);
      await this.plans.sendBurst(sandbox, id, count, context.actor);
      return { notice: 'burst_sent' };
    });
  }

  /** `do` is `grant` or `withdraw`. */
  @PortalPost('drivers/:id/consent', 'nothing', 'developer')
  consent(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    return this.attempt(context, id, 'consent', {}, async (sandbox) => {
      switch (context.form.get('do')) {
        case 'grant':
          await this.drivers.consent(sandbox, id, undefined, context.actor);
          return { notice: 'consent_granted' };
        case 'withdraw':
          await this.drivers.withdraw(sandbox, id, context.actor);
          return { notice: 'consent_withdrawn' };
        default:
          throw badRequest('The form is incomplete. Go back, reload the page and try again.');
      }
    });
  }

  @PortalPost('drivers/:id/delete', 'nothing', 'developer')
  delete(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    return this.attempt(context, id, 'delete', {}, async (sandbox) => {
      await this.drivers.delete(sandbox, id, context.actor);
      return { driver: '', notice: 'driver_deleted' };
    });
  }

  @PortalPost('fail_refresh', 'nothing', 'developer')
  failRefresh(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.attempt(context, undefined, 'fail_refresh', {}, async () => {
      await this.faults.set(context.clientId, 'refresh', 1, context.actor);
      return { notice: 'fault_set' };
    });
  }

  @PortalPost('fail_requests', 'nothing', 'developer')
  failRequests(@Context() context: PortalContext): Promise<PortalAnswer> {
    const kind = REQUEST_FAULTS.find((each) => each === context.form.get('kind'));
    const requests = optionalNumber(context.form, 'requests') ?? NaN;
    const errors: Errors = {
      ...(kind ? {} : { kind: 'Choose an answer.' }),
      ...wrong(requests, 'requests', 1, FAULTS_MAX),
    };
    return this.attempt(context, undefined, 'fail_requests', errors, async () => {
      await this.faults.set(context.clientId, kind!, requests, context.actor);
      return { notice: 'fault_set' };
    });
  }

  /** Does it, or shows the page again: with errors at the fields, or with why it is impossible now. */
  private async attempt(
    context: PortalContext,
    driver: string | undefined,
    form: string,
    errors: Errors,
    work: (sandbox: Sandbox) => Promise<{ driver?: string; notice: Notice }>,
  ): Promise<PortalAnswer> {
    if (Object.keys(errors).length > 0) return this.page(context, driver, { form, errors, status: 400 });
    return unlessConflict(
      async () => {
        const done = await work(sandboxIn(context));
        const chosen = done.driver ?? driver ?? context.form.get('chosen');
        return { goTo: chosen ? `${PATH}?driver=${encodeURIComponent(chosen)}` : PATH, notice: done.notice };
      },
      (detail) => this.page(context, driver, { form, errors: { form: detail }, status: 409 }),
    );
  }

  private async page(
    context: PortalContext,
    chosenId: string | undefined,
    failed?: { form: string; errors: Errors; status: number },
  ): Promise<PortalAnswer> {
    const props = await this.read(context, chosenId);
    const values = failed && Object.fromEntries(FIELDS.map((name) => [name, context.form.get(name)]));
    return { page: sandboxPage({ ...props, failed, values }), status: failed?.status };
  }

  private async read(context: PortalContext, chosenId: string | undefined): Promise<SandboxPageProps> {
    const [drivers, faults] = await Promise.all([
      this.drivers.listAll(sandboxIn(context)),
      this.faults.left(context.clientId),
    ]);
    const chosen = drivers.find(({ id }) => id === chosenId) ?? drivers.at(-1);
    const view = chosen && (await this.view.show?.(chosen, faults, context.clientId));
    return { drivers, chosen, view, faults };
  }
}

const FIELDS = ['name', 'seed', 'speed', 'days', 'count', 'kind', 'requests'];

/** The guard only admits sandboxes. */
const sandboxIn = ({ visitor: { clientId: id, ownerId, environment } }: PortalContext): Sandbox =>
  sandboxOf({ id, ownerId, environment })!;

/** Undefined for an empty field, NaN if it is not a whole number. */
function optionalNumber(form: Form, name: string): number | undefined {
  const text = form.get(name)?.trim() ?? '';
  if (text === '') return undefined;
  return /^\d{1,10}$/.test(text) ? Number(text) : NaN;
}

const wrong = (number: number | undefined, name: string, min: number, max: number): Errors =>
  number === undefined || (number >= min && number <= max)
    ? {}
    : { [name]: `Enter a whole number from ${min} to ${max.toLocaleString('en')}.` };
