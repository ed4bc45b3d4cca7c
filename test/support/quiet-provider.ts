// Loaded before oidc-provider, whose advice for production would stand between the results.
/* oxlint-disable no-console */
for (const level of ['info', 'warn'] as const) {
  const write = console[level];
  console[level] = (...text) => String(text[0]).startsWith('oidc-provider ') || write(...text);
}

export {};
