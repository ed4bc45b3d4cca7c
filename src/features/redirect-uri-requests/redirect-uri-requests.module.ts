import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ADMINISTERED } from '#entrypoints/admin/administered.modules.js';
import { ConsoleModule } from '#entrypoints/admin/console/console.module.js';
import { OverviewAlerts } from '#entrypoints/admin/console/overview/overview-alerts.js';
import { WaitingCounts } from '#entrypoints/admin/console/waiting/waiting-counts.js';
import { WebhookPortalModule } from '#entrypoints/webhook-portal/webhook-portal.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';
import { HttpModule } from '#platform/http/http.module.js';
import { addCatalogsOf } from '#platform/language/catalog.js';
import { AdminRedirectUriRequestsController } from './admin-redirect-uri-requests.controller.js';
import { ConsoleRedirectUrisController } from './console-redirect-uris.controller.js';
import { REDIRECT_URIS_PATH, REDIRECT_URIS_PART } from './console-redirect-uris.pages.js';
import { PortalRedirectUrisController } from './portal-redirect-uris.controller.js';
import { RedirectUriRequestEntity } from './redirect-uri-request.entity.js';
import { PENDING_REQUESTS, RedirectUriRequestsRepository } from './redirect-uri-requests.repository.js';
import { RedirectUriRequestsService } from './redirect-uri-requests.service.js';

addCatalogsOf('redirect-uri-requests');

/** Redirect URIs that partners ask for in the portal, and operators approve or reject in the console or the admin API (contract §20). */
@Module({
  imports: [
    ...ADMINISTERED,
    ConsoleModule,
    HttpModule,
    WebhookPortalModule,
    TypeOrmModule.forFeature([RedirectUriRequestEntity]),
  ],
  controllers: [
    AdminRedirectUriRequestsController,
    ConsoleRedirectUrisController,
    PortalRedirectUrisController,
  ],
  providers: [RedirectUriRequestsRepository, RedirectUriRequestsService],
})
export class RedirectUriRequestsModule implements OnModuleInit {
  constructor(
    private readonly requests: RedirectUriRequestsService,
    private readonly alerts: OverviewAlerts,
    private readonly waiting: WaitingCounts,
  ) {}

  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'redirect_uri_requests', by: 'decided_at', before: RETENTION }];
  }

  onModuleInit(): void {
    this.waiting.add({ part: REDIRECT_URIS_PART, word: 'waiting', sql: PENDING_REQUESTS });
    this.alerts.add(async () => {
      const count = await this.requests.countPending();
      if (count === 0) return [];
      const text =
        count === 1 ? 'A partner asks for a redirect URI.' : `Partners ask for ${count} redirect URIs.`;
      return [{ text, href: `${REDIRECT_URIS_PATH}?state=pending`, link: 'View redirect URIs' }];
    });
  }
}
