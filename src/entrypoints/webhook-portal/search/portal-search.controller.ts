import { Query } from '@nestjs/common';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { onlyHit, wantedIn } from '#platform/web/search/hits.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages } from '../frame/portal-pages.decorator.js';
import { PortalSearch } from './portal-search.service.js';
import { searchPage } from './search.page.js';

/** One search over what belongs to the client (contract §20). */
@PortalPages('search')
export class PortalSearchController {
  constructor(private readonly search: PortalSearch) {}

  /** Redirects to the hit if there is only one. */
  @PortalGet('', 'viewer')
  @ReadsMuch()
  async find(@Context() { visitor }: PortalContext, @Query('q') given?: unknown): Promise<PortalAnswer> {
    const wanted = wantedIn(given);
    const found = wanted === undefined ? [] : await this.search.find(wanted, visitor);
    const only = onlyHit(found);
    return only ? { goTo: only.href } : { page: searchPage(wanted, found) };
  }
}
