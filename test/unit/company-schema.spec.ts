import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { companySchema } from '#features/company-file/company-schema.js';

const EXAMPLE = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/company-file.md', 'utf8'))![1]!;

describe('The JSON Schema of a company file', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(companySchema());
  const errorsOf = (company: unknown) => {
    validate(company);
    return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
  };
  const example = () => parse(EXAMPLE) as Record<'scopes' | 'clients', Record<string, object>>;

  it('is the one in docs/company.schema.json', () => {
    // After a change: node dist/src/operator.js apply --schema > docs/company.schema.json, then oxfmt
    expect(JSON.parse(readFileSync('docs/company.schema.json', 'utf8'))).toEqual(companySchema());
  });

  it('accepts the example', () => {
    expect(errorsOf(example())).toEqual([]);
    expect(errorsOf({ has_end: true, ...example(), end: true })).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['an unknown section', { extra: {} }, [' additionalProperties']],
    ['no section', {}, [' minProperties']],
    ['an export without its end', { has_end: true, ...example() }, [' dependentRequired']],
    ['another end', { end: 'true' }, ['/end const']],
    [
      'a name of other characters',
      { scopes: { A: { description: 'x', audience: 'partner' } } },
      ['/scopes pattern', '/scopes propertyNames'],
    ],
    [
      'an action',
      { scopes: { a: { description: 'x', audience: 'partner', meaning_changed: true } } },
      ['/scopes/a additionalProperties'],
    ],
    [
      'what is missing',
      { scopes: { a: { audience: 'x' } } },
      ['/scopes/a required', '/scopes/a/audience enum'],
    ],
    ['words without English', { purposes: { a: { words: { de: 'x' } } } }, ['/purposes/a/words required']],
    [
      'a secret in two places',
      { clients: [{ ...example().clients[0], secret: { env: 'A', file: 'b' } }] },
      ['/clients/0/secret maxProperties'],
    ],
    [
      'null where it may not be',
      { clients: [{ ...example().clients[0], description: null, rate_limit: null }] },
      ['/clients/0/description type'],
    ],
  ])('refuses %s', (_what, company, errors) => {
    expect(errorsOf(company)).toEqual(errors);
  });
});
