import type { FeatureCommand } from '#entrypoints/cli/command.js';

/** The commands of the company file. */
export const COMPANY_FILE_COMMANDS = {
  apply: {
    usage: '-f FILE [--as ADMIN_EMAIL] [--dry-run] [--prune] | --schema',
    summary:
      'Make the company as a file says: scopes, purposes, event types, brand, owners and clients (docs/company-file.md); with --as, in the name of an admin, whom the audit log then names; with --prune, remove what it does not name; with --schema, print the JSON Schema of the file instead',
    options: [
      { name: 'file', short: 'f' },
      { name: 'as' },
      { name: 'dry-run', flag: true },
      { name: 'prune', flag: true },
      { name: 'schema', flag: true },
    ],
    load: async () => {
      const { apply, schemaIfAsked } = await import('./company-file.actions.js');
      return { run: apply, alone: schemaIfAsked };
    },
  },
  export: {
    usage: '',
    summary: 'Print the company as such a file, without secrets',
    options: [],
    load: async () => ({ run: (await import('./company-file.actions.js')).printCompany }),
  },
} satisfies Record<string, FeatureCommand>;
