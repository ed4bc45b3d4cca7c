import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ConsoleModule } from '#entrypoints/admin/console/console.module.js';
import { FEATURES } from '#start/features.js';

type Handler = (...args: unknown[]) => unknown;

/** Every route of the console; tests include a new route automatically. */
export const consoleRoutes = () => declaredRoutes(ConsoleModule, '/admin/console');

interface DeclaredRoute {
  method: 'GET' | 'POST';
  path: string;
}

/** Every route of a module, and those of features in its area, as their controllers declare them to the framework. */
export const declaredRoutes = (module: object, area: string): DeclaredRoute[] => [
  ...routesOf(module),
  ...FEATURES.flatMap(routesOf).filter(({ path }) => path === area || path.startsWith(`${area}/`)),
];

function routesOf(module: object): DeclaredRoute[] {
  const controllers = (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? []) as {
    prototype: object;
  }[];
  return controllers.flatMap((controller) => {
    const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
    const names = Object.getOwnPropertyNames(controller.prototype).filter((name) => name !== 'constructor');
    const handlers = names.map((name) => (controller.prototype as Record<string, Handler>)[name]!);
    return handlers
      .filter((handler) => Reflect.hasMetadata(PATH_METADATA, handler))
      .map((handler) => ({
        method: Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST ? 'POST' : 'GET',
        path: `/${base}/${Reflect.getMetadata(PATH_METADATA, handler) as string}`
          .replaceAll(/\/+/g, '/')
          .replace(/\/$/, ''),
      }));
  });
}
