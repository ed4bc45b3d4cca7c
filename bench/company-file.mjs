/** Prints a company file with so many clients, each with an owner and a secret to generate: `node bench/company-file.mjs 1000`. */
import { stringify } from 'yaml';

const numbers = Array.from({ length: Number(process.argv[2] ?? 1_000) }, (_, n) => n);
const owner = (n) => `partner-${n}@many.example`;

process.stdout.write(
  stringify({
    owners: Object.fromEntries(
      numbers.map((n) => [owner(n), { name: `Partner ${n}`, kind: 'organisation' }]),
    ),
    clients: numbers.map((n) => ({
      ...{ name: `Client ${n}`, owner: owner(n), type: 'confidential', grant_types: ['authorization_code'] },
      ...{ scopes: ['vehicle:read'], redirect_uris: [`https://${n}.many.example/callback`] },
      secret: { generate: `${n}.secret` },
    })),
  }),
);
