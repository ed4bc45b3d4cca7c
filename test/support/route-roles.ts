interface GuardedRoute {
  method: string;
  path: string;
  least: string;
}

/** The routes that need this role at least, by their path below `root`, each with its methods. */
export function routesOfRole(routes: readonly GuardedRoute[], role: string, root: string): string[] {
  const methods = new Map<string, string[]>();
  for (const { method, path, least } of routes)
    if (least === role) methods.set(path, [...(methods.get(path) ?? []), method].sort());
  return [...methods].map(([path, its]) => `${path.replace(root, '')} ${its.join(', ')}`).sort();
}
