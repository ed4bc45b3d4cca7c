import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { AskedOfSecondAdmin, Waiting } from '#access/domain/domain-questions.js';
import type { ApprovalAction } from '#entrypoints/admin/actions/admin-actions.js';
import { AdminModule } from '#entrypoints/admin/admin.module.js';
import { documentWaiting } from '#entrypoints/admin/actions/may-wait.js';
import { ADMINISTERED } from '#entrypoints/admin/administered.modules.js';
import { ConsoleModule } from '#entrypoints/admin/console/console.module.js';
import { OverviewAlerts } from '#entrypoints/admin/console/overview/overview-alerts.js';
import { WaitingCounts } from '#entrypoints/admin/console/waiting/waiting-counts.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { type PurgePreparation, type PurgeTask, RETENTION } from '#platform/database/purge/purge-tasks.js';
import { ApiOtherAnswer } from '#platform/http/api/api-answers.js';
import { HttpModule } from '#platform/http/http.module.js';
import type { Actor } from '#records/audit/audit.service.js';
import { addCatalogsOf } from '#platform/language/catalog.js';
import { AdminApprovalsController } from './admin-approvals.controller.js';
import { ApprovalView } from './admin-approvals.dto.js';
import { ApprovalEntity } from './approval.entity.js';
import { ApprovalsRepository } from './approvals.repository.js';
import { ApprovalsService } from './approvals.service.js';
import { ConsoleApprovalsController } from './console-approvals.controller.js';
import { approvalPath, APPROVALS_PART, APPROVALS_PATH } from './console-approvals.pages.js';

addCatalogsOf('four-eyes');
documentWaiting(
  ApiOtherAnswer(202, 'With `FOUR_EYES=true`: nothing is done until a second admin approves.', ApprovalView),
);

const APPROVALS_PURGE: PurgeTask[] = [{ table: 'approvals', by: 'expires_at', before: RETENTION }];

/** What waits for a second admin (contract §17), in the admin API and the console. */
@Module({
  imports: [
    ...ADMINISTERED,
    AdminModule,
    ConsoleModule,
    HttpModule,
    TypeOrmModule.forFeature([ApprovalEntity]),
  ],
  controllers: [AdminApprovalsController, ConsoleApprovalsController],
  providers: [ApprovalsRepository, ApprovalsService],
})
export class FourEyesModule implements OnModuleInit {
  constructor(
    private readonly repository: ApprovalsRepository,
    private readonly approvals: ApprovalsService,
    private readonly alerts: OverviewAlerts,
    private readonly waiting: WaitingCounts,
  ) {}

  @Answers('purge.tasks')
  purged(): (PurgeTask | PurgePreparation)[] {
    return [...APPROVALS_PURGE, { table: 'approvals', runBatch: () => this.repository.forgetPasswords() }];
  }

  @Answers('admin.second_admin')
  async ask({ action, ...asked }: AskedOfSecondAdmin, actor: Actor): Promise<Waiting> {
    const approval = await this.approvals.request({ ...asked, action: action as ApprovalAction }, actor);
    return { view: ApprovalView.of(approval), page: approvalPath(approval.id) };
  }

  onModuleInit(): void {
    this.waiting.add({
      part: APPROVALS_PART,
      word: 'waiting',
      sql: `SELECT count(*)::int FROM approvals a WHERE a.state = 'pending' AND a.expires_at > now()`,
    });
    this.alerts.add(async () => {
      const count = await this.approvals.countPending();
      if (count === 0) return [];
      const text = count === 1 ? 'A request waits for approval.' : `${count} requests wait for approval.`;
      return [{ text, href: `${APPROVALS_PATH}?state=pending`, link: 'View approvals' }];
    });
  }
}
