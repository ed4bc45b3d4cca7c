import { TYPE } from './webhooks.js';

/** The id of no endpoint. */
export const UNKNOWN = 'endp01HN2NJ9NMRZBXT1H6FT9N7735';
/** A URL that the setting for private addresses allows. */
export const URL_OK = 'http://127.0.0.1:9/hook';

/** Each member with values that are not allowed for it. */
export const BAD: [member: string, values: unknown[]][] = [
  [
    'url',
    [
      ...[undefined, null, '', 1, [URL_OK], 'text', '//x.example/', '/hook', 'ftp://x.example/', 'https://'],
      ...['https:///hook', 'https://x.example/#part', 'https://x.example/#', 'https://user@x.example/'],
      ...[
        'https://user:pass@x.example/',
        'https://:p@x.example/',
        'https://x .example/',
        'https://x.example/ ',
      ],
      ...['https://x.example\\@y.example/', 'https://x..example/', 'https://[::1/', 'javascript:alert(1)'],
      ...[
        'https://no-such-host.invalid/',
        `https://x.example/${'x'.repeat(2048)}`,
        'https://x.example/\u0007',
      ],
    ],
  ],
  [
    'event_types',
    [
      ...[undefined, null, [], TYPE, [1], [null], [[TYPE]], [TYPE, TYPE], { 0: TYPE }, ['*'], ['vehicle']],
      ...[
        ['charging_session.deleted'],
        [`${TYPE} `],
        ['constructor'],
        Array.from({ length: 51 }, (_, n) => `t${n}`),
      ],
    ],
  ],
  ['description', [null, 1, [], 'x'.repeat(201)]],
  ['enabled', [null, 0, 'true', 'false', []]],
  ['secret', ['whsec_' + 'A'.repeat(44)]],
  ['id', [UNKNOWN]],
  ['disabled_reason', ['gone']],
  ['failing_since', ['2026-01-01T00:00:00Z']],
];

/** URLs that only a setting allows. */
export const NOT_PUBLIC = [
  ...[URL_OK, 'http://x.example/', 'https://localhost/', 'https://a.localhost/', 'https://127.0.0.1/'],
  ...['https://10.1.2.3/', 'https://192.168.0.1/', 'https://172.16.0.1/', 'https://169.254.169.254/'],
  ...[
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::1]/',
    'https://[fd00::1]/',
    'https://2130706433/',
  ],
  ...['https://[::ffff:10.0.0.1]/', 'https://[64:ff9b::a00:1]/', 'https://[fe80::1]/', 'https://0x7f.1/'],
  ...['https://printer/', 'https://printer.local/', 'https://db.internal/', 'https://127.0.0.1./'],
];
