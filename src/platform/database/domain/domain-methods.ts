import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { declaredBy, type Declared } from './domain-map.js';
import type { NamedMap } from './named.js';

/** All names, as the service declares them. */
export const DOMAIN_NAMES = Symbol('domain names');

type Method = (...given: unknown[]) => unknown;

interface Found extends Declared {
  /** `ClientsService.obstacleTo` */
  label: string;
  run: Method;
}

/** The methods that listen and answer, found at the providers. The service does not start if they do not fit what is declared. */
@Injectable()
export class DomainMethods implements OnModuleInit {
  private found: Map<string, Found[]> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    @Inject(DOMAIN_NAMES) private readonly names: NamedMap,
  ) {}

  onModuleInit(): void {
    this.all();
  }

  /** The methods with this name, in their order. */
  of(name: string): Method[] {
    return (this.all().get(name) ?? []).map(({ run }) => run);
  }

  private all(): Map<string, Found[]> {
    this.found ??= checked(this.find(), this.names);
    return this.found;
  }

  private find(): Found[] {
    // A provider may have several tokens.
    const instances = new Set(this.discovery.getProviders().map(({ instance }) => instance as unknown));
    return [...instances]
      .filter(
        (instance): instance is Record<string, Method> =>
          (instance as object | null)?.constructor instanceof Function,
      )
      .flatMap((instance) =>
        declaredBy(instance.constructor).map((declared) => ({
          ...declared,
          label: `${instance.constructor.name}.${declared.key}`,
          run: (...given) => instance[declared.key]!(...given),
        })),
      );
  }
}

/** By name and in order; throws for what does not fit. */
function checked(found: Found[], names: NamedMap): Map<string, Found[]> {
  for (const { name, label, isListener } of found) {
    const use = Object.hasOwn(names, name) ? names[name]!.use : undefined;
    if (use === undefined || (use === 'event') !== isListener) {
      throw new Error(
        `${label} ${isListener ? 'listens to an event' : 'answers a question'} that does not exist: ${name}.`,
      );
    }
  }
  return new Map(
    Object.entries(names).map(([name, { use }]) => {
      const methods = found
        .filter((each) => each.name === name)
        .sort((one, other) => one.place - other.place);
      const labels = methods.map(({ label }) => label).join(', ');
      if (use === 'one' && methods.length !== 1) {
        throw new Error(
          `The question ${name} needs exactly one answer and has ${methods.length}: ${labels || 'none'}.`,
        );
      }
      if (use === 'event' && new Set(methods.map(({ place }) => place)).size < methods.length) {
        throw new Error(`Listeners of ${name} have the same place in its order: ${labels}.`);
      }
      return [name, methods];
    }),
  );
}
