import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { UsedProofsRepository } from './used-proofs.repository.js';

/** The instances' clocks differ from the database's by less; a proof that is forgotten too early could be used again. */
const SPARE_SECONDS = 120;

/** What a client signs to be used once, such as an assertion: each is accepted once, at all instances together. */
@Injectable()
export class UsedProofs {
  constructor(private readonly repository: UsedProofsRepository) {}

  /** Uses the proof with these parts, which would be accepted for so many more seconds; false if it was used already. */
  use(parts: readonly string[], seconds: number): Promise<boolean> {
    const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
    return this.repository.use({ digest, seconds: Math.max(0, seconds) + SPARE_SECONDS });
  }
}
