import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { unprocessableContent, validationFailed } from '#platform/http/problems/problem.js';
import { violation } from '#platform/http/problems/violation.js';
import { batchDigestOf } from './batch-digest.js';
import type { Disclosure, DisclosureBatch } from './disclosure.js';
import { DisclosuresRepository } from './disclosures.repository.js';

const reported = new Counter({
  name: 'disclosures_reported_total',
  help: 'Disclosures in reports of the data services, by whether they were counted, left out (nobody consented) or in a repeated report',
  labelNames: ['result'] as const,
});

/** Reported disclosures by result. */
const reportedDisclosures = {
  counted: reported.labels('counted'),
  leftOut: reported.labels('left_out'),
  repeated: reported.labels('repeated'),
};

/** The client that reports, and the realm whose users it knows. */
export interface Reporter {
  id: string;
  realm: string;
}

/** What the company's data services report (contract §26). */
@Injectable()
export class DisclosuresService {
  constructor(private readonly repository: DisclosuresRepository) {}

  /**
   * Counts a batch once, and returns how many of its parts were counted: those about users who consented to their client at some
   * time. The same batch again, within 72 hours, returns the same. Throws a 422 problem if its id stands for another batch, and 400
   * for days that are too early or still to come.
   */
  async report(reporter: Reporter, batchId: string, disclosures: Disclosure[]): Promise<number> {
    const batch: DisclosureBatch = {
      reporterId: reporter.id,
      batchId,
      bodyDigest: batchDigestOf(disclosures),
      realm: reporter.realm,
      disclosures,
    };
    const { counted, wrongDays } = await this.repository.count(batch);
    if (counted === null) return this.answerAgain(batch, wrongDays);
    reportedDisclosures.counted.inc(counted);
    reportedDisclosures.leftOut.inc(disclosures.length - counted);
    return counted;
  }

  /** A batch that was counted is answered as it was then, whatever day it is now. */
  private async answerAgain(
    { reporterId, batchId, bodyDigest, disclosures }: DisclosureBatch,
    wrongDays: number[],
  ): Promise<number> {
    const known = await this.repository.findBatch(reporterId, batchId);
    if (!known) {
      throw validationFailed(
        Object.fromEntries(wrongDays.map((place) => [`disclosures.${place}.day`, [violation('day_range')]])),
      );
    }
    if (!known.bodyDigest.equals(bodyDigest)) {
      throw unprocessableContent('This batch_id was used with other disclosures.');
    }
    reportedDisclosures.repeated.inc(disclosures.length);
    return known.counted;
  }
}
