type Method = 'GET' | 'POST';

/** A route of an area of pages, as its controller declares it. */
export interface RoleRoute<Role> {
  method: Method;
  path: string;
  /** The least role that may use it. */
  least: Role;
}

/** The routes of an area of pages whose visitors have roles. */
export class RouteRoles<Role> {
  private readonly routes: RoleRoute<Role>[] = [];
  private readonly unplaced = new Map<object, RoleRoute<Role>[]>();

  constructor(
    private readonly includes: (role: Role, least: Role) => boolean,
    /** Of a path without a route. */
    private readonly otherwise: Role,
  ) {}

  /** Registers a route of a controller whose path is not known yet. */
  note(controller: object, route: RoleRoute<Role>): void {
    this.unplaced.set(controller, [...(this.unplaced.get(controller) ?? []), route]);
  }

  /** Adds the routes of a controller under its path. */
  place(controller: object, root: string): void {
    for (const { path, ...route } of this.unplaced.get(controller) ?? []) {
      this.routes.push({ ...route, path: `/${root}/${path}`.replaceAll(/\/+/g, '/').replace(/\/$/, '') });
    }
  }

  /** Every route with its least role. */
  all(): readonly RoleRoute<Role>[] {
    return this.routes;
  }

  /** Whether the role may use what is at this path; a path without a route is judged as in the guard. */
  mayUse(role: Role, method: Method, path: string): boolean {
    const parts = path.split('/');
    const route = this.routes.filter((each) => each.method === method && fits(each.path.split('/'), parts));
    // A fixed part goes before a parameter: `users/new` is not a user.
    const [first] = route.sort((a, b) => parametersIn(a.path) - parametersIn(b.path));
    return this.includes(role, first?.least ?? this.otherwise);
  }
}

const fits = (pattern: string[], parts: string[]): boolean =>
  pattern.length === parts.length && pattern.every((part, n) => part.startsWith(':') || part === parts[n]);

const parametersIn = (path: string): number => path.split('/:').length;
