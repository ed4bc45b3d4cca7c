import { roleIncludes, type OperatorRole } from '../../config/operator-role.js';

type Method = 'GET' | 'POST';

/** A route of the console, as its controller declares it. */
export interface ConsoleRoute {
  method: Method;
  path: string;
  /** The least role that may use it (contract §17). */
  least: OperatorRole;
}

const ROUTES: ConsoleRoute[] = [];
const UNPLACED = new Map<object, ConsoleRoute[]>();

/** Notes a route of a controller whose path is not known yet. */
export function noteRoute(controller: object, route: ConsoleRoute): void {
  UNPLACED.set(controller, [...(UNPLACED.get(controller) ?? []), route]);
}

/** Adds the routes of a controller under its path. */
export function placeRoutes(controller: object, root: string): void {
  for (const { path, ...route } of UNPLACED.get(controller) ?? []) {
    ROUTES.push({ ...route, path: `/${root}/${path}`.replaceAll(/\/+/g, '/').replace(/\/$/, '') });
  }
}

/** Every route of the console with its least role. */
export const consoleRoutes = (): readonly ConsoleRoute[] => ROUTES;

/** Whether the role may use what is at this path of the console; a path without a route is for admins, as in the guard. */
export function mayUseRoute(role: OperatorRole, method: Method, path: string): boolean {
  const parts = path.split('/');
  const route = ROUTES.filter((each) => each.method === method && fits(each.path.split('/'), parts));
  // A fixed part goes before a parameter: `users/new` is not a user.
  const [first] = route.sort((a, b) => parametersIn(a.path) - parametersIn(b.path));
  return roleIncludes(role, first?.least ?? 'admin');
}

const fits = (pattern: string[], parts: string[]): boolean =>
  pattern.length === parts.length && pattern.every((part, n) => part.startsWith(':') || part === parts[n]);

const parametersIn = (path: string): number => path.split('/:').length;
