import { Injectable } from '@nestjs/common';
import { requireTransaction } from '../queries/transaction-around.js';
import type { Given, NameOf, Returned } from './domain-map.js';
import { DomainMethods } from './domain-methods.js';

/** Says what happens to those who listen (`OnDomainEvent`), in other modules and in those above. */
@Injectable()
export class DomainEvents {
  constructor(private readonly methods: DomainMethods) {}

  /**
   * Runs all listeners in their order, in the transaction of the caller; returns what they return. Whoever ends something has changed or
   * locked its row first, so that nothing that depends on it and is made at the same time escapes.
   */
  async say<N extends NameOf<'event'>>(name: N, ...told: Given<N>): Promise<Awaited<Returned<N>>[]> {
    requireTransaction(`The event ${name}`);
    const returned: Awaited<Returned<N>>[] = [];
    for (const listen of this.methods.of(name))
      returned.push((await listen(...told)) as Awaited<Returned<N>>);
    return returned;
  }
}
