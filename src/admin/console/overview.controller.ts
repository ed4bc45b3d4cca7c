import { ConsolePages, Shows, Visit } from './console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from './console-visit.js';
import { renderConsolePage } from './pages/console-layout.js';

/** The console's front page. */
@ConsolePages()
export class ConsoleOverviewController {
  @Shows()
  show(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return {
      html: renderConsolePage({ frame: visit.frame, part: 'overview', title: 'Overview', children: [] }),
    };
  }
}
