import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import type { ClientEntity } from '../client.entity.js';
import { INTROSPECTION_SCOPE } from './introspection-scope.js';
import { KnownResourcesRepository } from './known-resources.repository.js';
import { canonicalResource } from './resource-indicator.js';

/** The resources that a token can be for (RFC 8707, contract §4): this service, and those of clients that introspect. */
@Injectable()
export class KnownResources {
  constructor(
    private readonly repository: KnownResourcesRepository,
    private readonly settings: Settings,
  ) {}

  /** All of them, this service first. */
  async list(): Promise<string[]> {
    const others = await this.repository.all(INTROSPECTION_SCOPE);
    return [...new Set([this.settings.baseUrl, ...others.map(canonicalResource)])];
  }

  /** Whether all of these, in their canonical form, are known. Without a query if it is only this service. */
  async includes(resources: readonly string[]): Promise<boolean> {
    if (resources.every((resource) => resource === this.settings.baseUrl)) return true;
    const known = await this.list();
    return resources.every((resource) => known.includes(resource));
  }

  /** What a client that introspects stands for: without resource indicators of its own, this service. */
  of({ resourceIndicators }: Pick<ClientEntity, 'resourceIndicators'>): string[] {
    return resourceIndicators.length === 0
      ? [this.settings.baseUrl]
      : resourceIndicators.map(canonicalResource);
  }
}
