import type { Command } from './command.js';

/** Commands for operators without a browser. */
export const COMMANDS = {
  'make-operator': {
    usage: '--email ADDRESS [--name NAME]',
    summary: 'Create an operator with the role admin, and a one-time link to set the password',
    options: [{ name: 'email', required: true }, { name: 'name' }],
  },
  'make-admin': {
    usage: '<email>',
    summary:
      'Make an existing user an admin, enabled, with a one-time link to set the password: the way in when everybody is locked out',
    argument: 'email',
    options: [],
  },
  'reset-second-factor': {
    usage: '<user_id>',
    summary:
      'Remove the passkeys, the authenticator app and the recovery codes of a user, and end the sessions',
    argument: 'user_id',
    options: [],
  },
  'import-consents': {
    usage: '<file> [--dry-run]',
    summary:
      'Bring along consents that were given elsewhere: a JSON object on each line, with client_id, user_id or email, scopes, granted_at, evidence, and perhaps expires_at; what is there already stays',
    argument: 'file',
    options: [{ name: 'dry-run', flag: true }],
  },
  words: {
    usage: '(--export | --import FILE [--dry-run])',
    summary:
      'Print the words of scopes, purposes and event types in all languages as JSON, or take over those of such a file; names that are not in it stay as they are',
    options: [{ name: 'export', flag: true }, { name: 'import' }, { name: 'dry-run', flag: true }],
  },
  audit: {
    usage: '[--after CURSOR] [--follow]',
    summary:
      'Write the audit log, oldest first, a JSON object on each line; --after goes on where a line with this cursor ended, --follow waits for more',
    options: [{ name: 'after' }, { name: 'follow', flag: true }],
  },
  refusals: {
    usage: '[--after CURSOR] [--follow]',
    summary: 'Write the refused requests of the last days in the same way',
    options: [{ name: 'after' }, { name: 'follow', flag: true }],
  },
  purge: {
    usage: '',
    summary: 'Remove what has expired, as the service does every minute',
    options: [],
  },
  reseal: {
    usage: '[--lost-key KEY_ID]',
    summary:
      'After a change of ENCRYPTION_KEY: re-encrypt what ENCRYPTION_KEYS_PREVIOUS can still decrypt; with the id of a lost key, give up what it encrypted',
    options: [{ name: 'lost-key' }],
  },
  'token-keys': {
    usage: '',
    summary: 'List the keys that tokens are signed with',
    options: [],
  },
  'rotate-token-key': {
    usage: '',
    summary:
      'Sign new tokens with a new key, as the service does every 90 days; tokens of the old one stay valid',
    options: [],
  },
  'revoke-token-key': {
    usage: '<id>',
    summary: 'Revoke a leaked key: every token that it signed stops working immediately',
    argument: 'id',
    options: [],
  },
} satisfies Record<string, Command>;

/** Commands that an operator runs before the service can start. */
export const DATABASE_COMMANDS = {
  migrate: {
    usage: '[--service-role ROLE]',
    summary:
      'Run the database migrations, also while instances serve; the role gets only the privileges that the service needs',
    options: [{ name: 'service-role' }],
  },
} satisfies Record<string, Command>;
