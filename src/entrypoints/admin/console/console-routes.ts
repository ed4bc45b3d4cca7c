import { roleIncludes, type OperatorRole } from '#platform/config/operator-role.js';
import { RouteRoles, type RoleRoute } from '#platform/http/page-routes/route-roles.js';

const ROUTES = new RouteRoles<OperatorRole>(roleIncludes, 'admin');

/** Registers a route of a controller whose path is not known yet. */
export const noteRoute = (controller: object, route: RoleRoute<OperatorRole>): void =>
  ROUTES.note(controller, route);

/** Adds the routes of a controller under its path. */
export const placeRoutes = (controller: object, root: string): void => ROUTES.place(controller, root);

/** Every route of the console with its least role. */
export const consoleRoutes = (): readonly RoleRoute<OperatorRole>[] => ROUTES.all();

/** Whether the role may use this path of the console. A path without a route is for admins, as in the guard. */
export const mayUseRoute = (role: OperatorRole, method: 'GET' | 'POST', path: string): boolean =>
  ROUTES.mayUse(role, method, path);
