import { Module, type OnModuleInit } from '@nestjs/common';
import { UsersModule } from '#access/users/users.module.js';
import { ChosenDriverView } from '#entrypoints/webhook-portal/sandbox/chosen-driver-view.js';
import { WebhookPortalModule } from '#entrypoints/webhook-portal/webhook-portal.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { Car } from './car.js';
import { Power, Sent } from './live-driver.js';
import { PortalLiveSandboxController } from './portal-live-sandbox.controller.js';
import { SandboxStatesRepository } from './sandbox-states.repository.js';
import { SandboxStreams, LiveDrivers } from './sandbox-streams.service.js';

/** A sandbox as it happens, in the portal: the car of the chosen driver, its session, and what is sent (contract §19). */
@Module({
  imports: [HttpModule, PartnersModule, UsersModule, WebhookPortalModule, WebhooksModule],
  controllers: [PortalLiveSandboxController],
  providers: [LiveDrivers, SandboxStatesRepository, SandboxStreams],
})
export class LiveSandboxModule implements OnModuleInit {
  constructor(
    private readonly view: ChosenDriverView,
    private readonly drivers: LiveDrivers,
  ) {}

  onModuleInit(): void {
    this.view.show = async (driver, faults, clientId) => {
      const live = { ...(await this.drivers.of(driver, clientId)), faults };
      return { car: <Car {...live} />, sent: <Sent {...live} />, power: <Power {...live} /> };
    };
  }
}
