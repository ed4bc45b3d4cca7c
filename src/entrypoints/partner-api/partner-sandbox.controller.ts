import {
  Body,
  Controller,
  Delete,
  Get,
  Post,
  Put,
  Query,
  UseGuards,
  applyDecorators,
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiEndpoint, ApiNoContent, PathId, ApiProblems } from '#platform/http/api/api-answers.js';
import { EmptyBodyGuard } from '#platform/http/api/empty-body.guard.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import { validationFailed, forbidden, notFound } from '#platform/http/problems/problem.js';
import {
  PartnerAnswer,
  PartnerPage,
  PartnerEndpoint,
} from '#access/rate-limits/partners/partner-endpoint.decorator.js';
import { SandboxFaultsService } from '#access/sandbox-faults/sandbox-faults.service.js';
import { SPEEDS, type Sandbox, sandboxOf } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { PlansService } from '#events/sandbox/plans.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import {
  BurstDto,
  DriverConsentDto,
  FaultDto,
  NewDriverDto,
  NewSessionDto,
  PastDaysDto,
  DriverView,
  FaultView,
  PlannedView,
} from './partner-sandbox.dto.js';
import { violation } from '#platform/http/problems/violation.js';

/** Admits client-credentials tokens of clients in a sandbox; for live clients these endpoints do not exist. */
@Injectable()
class SandboxCallerGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { client, userId } = context.switchToHttp().getRequest<FastifyRequest>().principal!;
    if (client.environment === 'live') throw notFound('There is nothing at this URL.');
    if (userId === undefined) return true;
    throw forbidden('This requires a client-credentials token: a driver does not control the sandbox.');
  }
}

/** An endpoint with which a program controls its sandbox (contract §19), and the further problems it answers with. Faults leave it alone. */
const SandboxEndpoint = (...problems: number[]) =>
  applyDecorators(
    PartnerEndpoint({ neverFails: true }),
    UseGuards(SandboxCallerGuard),
    ApiProblems(404, ...problems),
  );

/** The sandbox of the caller, after the guard. */
const CurrentSandbox = createParamDecorator((_data: unknown, context: ExecutionContext): Sandbox =>
  sandboxOf(context.switchToHttp().getRequest<FastifyRequest>().principal!.client)!,
);

/** The sandbox for programs (contract §19): drivers, their sessions, and faults. */
@Controller('v2/sandbox')
@ApiTags('Sandbox')
export class PartnerSandboxController {
  constructor(
    private readonly drivers: DriversService,
    private readonly plans: PlansService,
    private readonly faults: SandboxFaultsService,
  ) {}

  @Get('drivers')
  @SandboxEndpoint()
  @ApiEndpoint(
    'listSandboxDrivers',
    'The drivers of the sandbox',
    'Shared by all sandbox clients of the owner.',
  )
  @PartnerPage(DriverView)
  async list(@Query() query: PageQuery, @CurrentSandbox() sandbox: Sandbox): Promise<ListAnswer<DriverView>> {
    return listAnswer(await this.drivers.list(sandbox, pageRequestOf(query)), DriverView.of);
  }

  @Post('drivers')
  @SandboxEndpoint(409, 413, 415)
  @UseGuards(EmptyBodyGuard)
  @ApiEndpoint('createSandboxDriver', 'Create a driver', 'At most 50 for each owner: 409.')
  @ApiBody({ type: NewDriverDto, required: false })
  @PartnerAnswer('The driver.', DriverView, {}, 201)
  async create(
    @Body() body: NewDriverDto,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<DriverView> {
    return DriverView.of(await this.drivers.create(sandbox, body, actor));
  }

  @Delete('drivers/:id')
  @SandboxEndpoint(413, 415)
  @ApiEndpoint(
    'deleteSandboxDriver',
    'Erase a driver',
    'As a user is erased; clients with the consent are told.',
  )
  @ApiNoContent('Erased.')
  delete(
    @PathId('id', 'user') id: string,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.drivers.delete(sandbox, id, actor);
  }

  @Post('drivers/:id/sessions')
  @SandboxEndpoint(409, 413, 415)
  @UseGuards(EmptyBodyGuard)
  @ApiEndpoint('startSandboxSession', 'Start a charging session', 'At most one runs for each driver: 409.')
  @ApiBody({ type: NewSessionDto, required: false })
  @PartnerAnswer('Its events are published at their time.', PlannedView, {}, 202)
  async startSession(
    @PathId('id', 'user') id: string,
    @Body() { speed = 1 }: NewSessionDto,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<PlannedView> {
    const known = SPEEDS.find((each) => each === speed);
    if (!known) throw validationFailed({ speed: [violation('speed', { values: SPEEDS })] });
    return { events: await this.plans.startSession(sandbox, id, known, actor) };
  }

  @Post('drivers/:id/past_days')
  @SandboxEndpoint(409, 413, 415)
  @ApiEndpoint(
    'sendSandboxPastDays',
    'Send sessions of past days',
    'With their own times, at once. At most 2,000 events of an owner wait: 409.',
  )
  @PartnerAnswer('Its events are being published.', PlannedView, {}, 202)
  async sendPastDays(
    @PathId('id', 'user') id: string,
    @Body() { days }: PastDaysDto,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<PlannedView> {
    return { events: await this.plans.sendPastDays(sandbox, id, days, actor) };
  }

  @Post('drivers/:id/events')
  @SandboxEndpoint(409, 413, 415)
  @ApiEndpoint('sendSandboxBurst', 'Send many events at once', 'At most 2,000 events of an owner wait: 409.')
  @PartnerAnswer('The events are being published.', PlannedView, {}, 202)
  async sendBurst(
    @PathId('id', 'user') id: string,
    @Body() { count }: BurstDto,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<PlannedView> {
    return { events: await this.plans.sendBurst(sandbox, id, count, actor) };
  }

  @Put('drivers/:id/consent')
  @SandboxEndpoint(413, 415)
  @UseGuards(EmptyBodyGuard)
  @ApiEndpoint('grantSandboxConsent', 'Grant a driver’s consent to the client', 'Replaces an earlier one.')
  @ApiBody({ type: DriverConsentDto, required: false })
  @PartnerAnswer('The driver.', DriverView)
  async consent(
    @PathId('id', 'user') id: string,
    @Body() { scopes }: DriverConsentDto,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<DriverView> {
    await this.drivers.consent(sandbox, id, scopes, actor);
    return DriverView.of(await this.drivers.get(sandbox, id));
  }

  @Delete('drivers/:id/consent')
  @SandboxEndpoint(413, 415)
  @ApiEndpoint(
    'withdrawSandboxConsent',
    'Withdraw a driver’s consent to the client',
    'Without an active one: 404.',
  )
  @ApiNoContent('Withdrawn.')
  withdraw(
    @PathId('id', 'user') id: string,
    @CurrentSandbox() sandbox: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.drivers.withdraw(sandbox, id, actor);
  }

  @Post('faults')
  @SandboxEndpoint(413, 415)
  @ApiEndpoint(
    'setSandboxFault',
    'Let the next refresh or the next requests fail',
    'In place of what would have failed. What is not used within an hour ends.',
  )
  @PartnerAnswer('What fails next.', FaultView, {}, 201)
  async fail(
    @Body() { kind, count = 1 }: FaultDto,
    @CurrentSandbox() { clientId }: Sandbox,
    @CurrentActor() actor: Actor,
  ): Promise<FaultView> {
    if (kind === 'refresh' && count !== 1) throw validationFailed({ count: [violation('refresh_count')] });
    await this.faults.set(clientId, kind, count, actor);
    return { kind, count };
  }
}
