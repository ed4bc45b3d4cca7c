import { Injectable } from '@nestjs/common';

/** How many were sealed again under the current `ENCRYPTION_KEY`, and which cannot be decrypted. */
export interface Resealed {
  resealed: number;
  unreadable: string[];
}

/** The port through which a feature says how to seal again what it stores sealed under `ENCRYPTION_KEY`. */
@Injectable()
export class Reseals {
  private readonly all: (() => Promise<Resealed>)[] = [];

  add(reseal: () => Promise<Resealed>): void {
    this.all.push(reseal);
  }

  /** Seals everything again, one after the other. */
  async run(): Promise<Resealed[]> {
    const done: Resealed[] = [];
    for (const reseal of this.all) done.push(await reseal());
    return done;
  }
}
