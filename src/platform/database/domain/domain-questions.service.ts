import { Injectable } from '@nestjs/common';
import type { Given, NameOf, Returned } from './domain-map.js';
import { DomainMethods } from './domain-methods.js';

/** Asks those who answer (`Answers`), in other modules and in those above. */
@Injectable()
export class DomainQuestions {
  constructor(private readonly methods: DomainMethods) {}

  /** The only answer. */
  ask<N extends NameOf<'one'>>(name: N, ...asked: Given<N>): Returned<N> {
    return this.methods.of(name)[0]!(...asked) as Returned<N>;
  }

  /** All answers, in no certain order. */
  askAll<N extends NameOf<'all'>>(name: N, ...asked: Given<N>): Returned<N>[] {
    return this.methods.of(name).map((answer) => answer(...asked) as Returned<N>);
  }
}
