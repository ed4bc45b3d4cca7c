import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { UnsubscribingService } from '#access/users/emails/unsubscribing.service.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { unsubscribedPage, unsubscribePage } from './pages/unsubscribe.page.js';

/** One kind of links that stop mails. A key that is not of this kind, or no longer works, has no page. */
interface KindOfLink {
  /** The page that asks; its form is posted to `action`. */
  ask(key: string, action: string): Promise<LayoutProps | undefined>;
  /** Stops the mails; the page says so. */
  stop(key: string, actor: Actor): Promise<LayoutProps | undefined>;
}

/** The links of `/email/unsubscribe/{key}`: those of users, and the port through which features add their own. */
@Injectable()
export class UnsubscribeLinks {
  private readonly kinds: KindOfLink[];

  constructor(ofUsers: UnsubscribingService) {
    this.kinds = [
      {
        async ask(key, action) {
          const found = await ofUsers.find(key);
          return found && unsubscribePage({ action, ...found });
        },
        async stop(key, actor) {
          return (await ofUsers.unsubscribe(key, actor)) ? unsubscribedPage() : undefined;
        },
      },
    ];
  }

  add(kind: KindOfLink): void {
    this.kinds.push(kind);
  }

  /** The page that asks whether to stop the mails. */
  ask(key: string, action: string): Promise<LayoutProps | undefined> {
    return this.first((kind) => kind.ask(key, action));
  }

  /** Stops the mails; the page says so. */
  stop(key: string, actor: Actor): Promise<LayoutProps | undefined> {
    return this.first((kind) => kind.stop(key, actor));
  }

  private async first(
    page: (kind: KindOfLink) => Promise<LayoutProps | undefined>,
  ): Promise<LayoutProps | undefined> {
    for (const kind of this.kinds) {
      const found = await page(kind);
      if (found) return found;
    }
    return undefined;
  }
}
