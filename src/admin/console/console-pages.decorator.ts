import { pageRoutes } from '../../http/page-routes/page-routes.js';
import { CONSOLE_PATH } from './console-context.js';
import { consoleErrorPage } from './console-error-page.js';
import { ConsoleGuard } from './console.guard.js';
import { PasswordIs, type PasswordRule } from './require-recent-password.js';

const routes = pageRoutes({ root: CONSOLE_PATH, guard: ConsoleGuard, renderError: consoleErrorPage });

/** A controller of the console: only for operators, with every form checked; its routes return a `ConsoleAnswer`. */
export const ConsolePages = routes.Pages;

/** A page of the console. `asked in the form`: its form asks, except for sessions from a provider, which the guard sends there before. */
export const ConsoleGet = (
  path = '',
  password: Exclude<PasswordRule, 'asked on the page above'> = 'not asked',
) => routes.PageGet(path, PasswordIs(password));

/** A form action of the console, and whether the guard asks for the password first. */
export const ConsolePost = (path: string, password: PasswordRule) =>
  routes.PagePost(path, PasswordIs(password));
