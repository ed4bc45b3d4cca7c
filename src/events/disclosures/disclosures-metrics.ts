import { Counter } from 'prom-client';

const reported = new Counter({
  name: 'disclosures_reported_total',
  help: 'Disclosures in reports of the data services, by whether they were counted, left out (nobody consented) or in a repeated report',
  labelNames: ['result'] as const,
});

/** Reported disclosures by result. */
export const reportedDisclosures = {
  counted: reported.labels('counted'),
  leftOut: reported.labels('left_out'),
  repeated: reported.labels('repeated'),
};
