import {
  flag,
  idOf,
  listOf,
  oneOf,
  orNull,
  scopeNames,
  text,
  time,
  whole,
} from '#platform/http/api/api-schemas.js';
import { violation } from '#platform/http/problems/violation.js';
import { ResourceForm, type FormValues } from '#platform/http/resources/resource-form.js';
import { NULL_IF_OMITTED, resource, type ChangesOf, type NewOf } from '#platform/http/resources/resource.js';
import { nameSchema } from '#platform/http/validation/name-rule.js';
import {
  IsHttpsPage,
  IsIdOf,
  IsLine,
  IsListOfDifferent,
  IsOneOf,
  IsTrueOrFalse,
  IsVisibleText,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { IsScopeList } from '#access/scopes/scope-name.js';
import { PURPOSE_NAME } from '#access/scopes/purposes/purpose.entity.js';
import { ENVIRONMENTS } from '#access/users/accounts/environment.js';
import { CLIENT_TYPES, GRANT_TYPES, type ClientEntity } from './client.entity.js';
import { CLIENT_SECURITY } from './client-security.fields.js';
import { isResourceIndicator, RESOURCE_INDICATOR_MAX } from './resources/resource-indicator.js';

// Contract §14 sets the same bounds for the default limit.
const RATE_LIMIT_MAX = 1_000_000_000;
const REDIRECT_URIS_MAX = 20;
const PURPOSES_MAX = 10;
const RESOURCE_INDICATORS_MAX = 20;

/** The fields of a client (contract §2), for the API, the audit log, forms and company files. */
export const CLIENT = resource<ClientEntity>()('client', {
  id: { wire: 'client_id', view: idOf('clnt'), audited: { not: 'the subject of the event' } },
  name: {
    view: text(undefined, { example: 'Charge Planner' }),
    rule: IsVisibleText(1, 100),
    given: 'required',
    changeable: true,
    audited: true,
    form: { as: 'text', label: 'Name', hint: 'Shown to users on the consent page.' },
  },
  description: {
    view: text('For operators.'),
    rule: IsLine(0, 500),
    about: 'For operators: neither users nor the partner see it.',
    given: 'optional',
    initial: '',
    changeable: true,
    audited: true,
    form: {
      as: 'text',
      label: 'Description',
      hint: 'For operators: neither users nor the partner see it. Optional.',
    },
  },
  organisation: {
    view: orNull(text('The organisation that runs it, as shown to users.', { example: 'Planner GmbH' })),
    rule: IsVisibleText(1, 100),
    about: 'The organisation that runs it, as shown to users.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Organisation',
      hint: 'Shown to users under the name: the organisation that runs the application. Optional.',
    },
  },
  site: {
    view: orNull(text('A page about it, for users.', { example: 'https://planner.example.com' })),
    rule: IsHttpsPage(),
    about: 'A page about it, for users: https.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Website',
      hint: 'A page about the application, for users. It begins with https://. Optional.',
    },
  },
  privacyPolicy: {
    wire: 'privacy_policy',
    view: orNull(
      text('What it does with the data of users.', { example: 'https://planner.example.com/privacy' }),
    ),
    rule: IsHttpsPage(),
    about: 'What it does with the data of users, for them to read: https.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Privacy policy',
      hint: 'A page about what the application does with the data of users. It begins with https://. Optional.',
    },
  },
  logoId: { wire: 'logo', audited: true },
  type: {
    view: oneOf(...CLIENT_TYPES),
    rule: IsOneOf(...CLIENT_TYPES),
    given: 'required',
    initial: 'confidential',
    audited: true,
    form: {
      as: 'choice',
      label: 'Type',
      hint: 'It cannot be changed later.',
      options: [
        { value: 'confidential', label: 'Confidential', hint: 'Runs on a server that can keep a secret.' },
        {
          value: 'public',
          label: 'Public',
          hint: 'A native or single-page app. It has no secret and uses PKCE.',
        },
      ],
    },
  },
  grantTypes: {
    wire: 'grant_types',
    view: listOf(oneOf(...GRANT_TYPES)),
    rule: IsListOfDifferent(
      1,
      20,
      violation('grant_types', { values: GRANT_TYPES }),
      (item) => GRANT_TYPES.some((grantType) => grantType === item),
      oneOf(...GRANT_TYPES),
    ),
    given: 'required',
    changeable: true,
    audited: true,
    form: { as: 'choices', label: 'Grant types' },
  },
  scopes: {
    view: scopeNames(),
    rule: IsScopeList(),
    given: 'required',
    audited: true,
    form: { as: 'choices', label: 'Scopes', hint: 'It cannot be changed later.' },
  },
  optionalScopes: {
    wire: 'optional_scopes',
    view: scopeNames(),
    rule: IsScopeList(0),
    about: 'Those of its scopes that a user may leave out on the consent page, and give or take back later.',
    given: 'optional',
    initial: [],
    changeable: true,
    audited: true,
    form: {
      as: 'lines',
      label: 'Optional scopes',
      hint: 'One per line, of the scopes above. The user chooses them on the consent page, and can change the choice later.',
    },
  },
  purposes: {
    view: listOf(text(), { description: 'Names of purposes.', example: ['route_planning'] }),
    rule: IsListOfDifferent(
      0,
      PURPOSES_MAX,
      violation('purpose_names', { max: PURPOSES_MAX }),
      (name) => PURPOSE_NAME.pattern.test(name),
      nameSchema(PURPOSE_NAME),
    ),
    about:
      'What it wants the data for: names of the catalogue of purposes. Users see their words when they agree.',
    given: 'optional',
    initial: [],
    changeable: true,
    audited: true,
    form: {
      as: 'choices',
      label: 'Purposes',
      hint: 'What it wants the data for, up to 10. Users see the words when they agree.',
    },
  },
  consentExpiryDays: {
    wire: 'consent_expiry_days',
    view: orNull(whole('Days after which a consent to it ends; null: as the service says.')),
    rule: IsWholeNumber(1, 3650, 'or null'),
    about: 'Days after which a consent ends unless the user renews it; null for the default of the service.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'number',
      label: 'Days until a consent ends',
      hint: 'For new and renewed consents. Leave empty for the service default.',
    },
  },
  redirectUris: {
    wire: 'redirect_uris',
    view: listOf(text(), { example: ['https://app.example.com/callback'] }),
    rule: IsListOfDifferent(0, REDIRECT_URIS_MAX, violation('redirect_uris', { max: REDIRECT_URIS_MAX })),
    given: 'optional',
    initial: [],
    changeable: true,
    audited: true,
    form: {
      as: 'lines',
      label: 'Redirect URIs',
      hint: 'One per line: https, or http on a loopback address. They must match exactly.',
    },
  },
  ownerId: {
    wire: 'owner_id',
    view: idOf('user'),
    rule: IsIdOf('user', 'user'),
    given: 'required',
    audited: true,
  },
  enabled: { view: flag(), rule: IsTrueOrFalse(), changeable: true, audited: true },
  rateLimit: {
    wire: 'rate_limit',
    view: orNull(whole('Requests per hour; null: the limit of the service.')),
    rule: IsWholeNumber(1, RATE_LIMIT_MAX, 'or null'),
    about: 'Requests per hour; null for the default of the service.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'number',
      label: 'Requests per hour',
      hint: 'For each of its users. Leave empty for the service default.',
    },
  },
  companyService: {
    wire: 'company_service',
    view: flag('Whether it is a service of the company, which no operator’s role limits.'),
    rule: IsTrueOrFalse(),
    about:
      'A service of the company: it has operator scopes, and no operator’s role limits it. Required with operator scopes unless the owner is an operator.',
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: {
      as: 'tick',
      label: 'Company service: it has scopes for operators, and no operator’s role limits it',
    },
  },
  gatekeeper: {
    view: flag('Whether it is a gatekeeper under the Digital Markets Act, which cannot receive consents.'),
    rule: IsTrueOrFalse(),
    about:
      'A gatekeeper under the Digital Markets Act: users cannot share data with it (Data Act, Article 5(3)). Consents that it has stay valid until they are revoked.',
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: {
      as: 'tick',
      label: 'Gatekeeper under the Digital Markets Act: it cannot receive consents',
    },
  },
  environment: {
    view: oneOf(...ENVIRONMENTS),
    rule: IsOneOf(...ENVIRONMENTS),
    about: 'Fixed when it is created; by default live.',
    given: 'optional',
    initial: 'live',
    audited: true,
    form: {
      as: 'choice',
      label: 'Environment',
      hint: 'It cannot be changed later.',
      options: [
        { value: 'live', label: 'Live', hint: 'Its users are people, and their data are real.' },
        {
          value: 'sandbox',
          label: 'Sandbox',
          hint: 'Its users are invented drivers, whom the partner creates.',
        },
      ],
    },
  },
  ...CLIENT_SECURITY,
  resourceIndicators: {
    wire: 'resource_indicators',
    view: listOf(text(), {
      description: 'What it stands for when it introspects; empty: this service.',
      example: ['https://data.example.com'],
    }),
    rule: IsListOfDifferent(
      0,
      RESOURCE_INDICATORS_MAX,
      violation('resource_indicators', { max: RESOURCE_INDICATORS_MAX, length: RESOURCE_INDICATOR_MAX }),
      isResourceIndicator,
      text(undefined, { maxLength: RESOURCE_INDICATOR_MAX, format: 'uri' }),
    ),
    about:
      'What it stands for when it introspects (RFC 8707): absolute URIs without a fragment. Tokens can then be asked for that are only for these. Empty for this service.',
    given: 'optional',
    initial: [],
    changeable: true,
    audited: true,
    form: {
      as: 'lines',
      label: 'Resource indicators',
      hint: 'Only with token:introspect. One address of the data service per line: applications can ask for tokens that are only for it.',
    },
  },
  realm: { audited: { not: 'follows from the environment and the owner' } },
  createdAt: { wire: 'created_at', view: time(), audited: { not: 'the time of client.created' } },
  updatedAt: { wire: 'updated_at', view: time(), audited: { not: 'the time of the event' } },
});

type ClientFieldsOf = typeof CLIENT.fields;
export type NewClient = NewOf<ClientEntity, ClientFieldsOf>;
export type ClientChanges = ChangesOf<ClientEntity, ClientFieldsOf>;

export const CLIENT_FORM = new ResourceForm(CLIENT);
/** The values of a client form without the owner, who is entered as an email or an id. */
export type ClientFormValues = FormValues<ClientFieldsOf>;
