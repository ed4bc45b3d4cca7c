import { Context } from '#platform/http/page-routes/page-context.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages } from '../frame/portal-pages.decorator.js';
import { homePage } from './home.page.js';
import { PortalHomeService } from './portal-home.service.js';

/** The first page of the portal (contract §11.1): first steps, the current state, and the endpoints. */
@PortalPages()
export class PortalHomeController {
  constructor(private readonly home: PortalHomeService) {}

  @PortalGet('', 'viewer')
  async show(@Context() { clientId }: PortalContext): Promise<PortalAnswer> {
    return { page: homePage(await this.home.of(clientId)) };
  }
}
