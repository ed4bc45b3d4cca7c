import type { VNode } from 'preact';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import type { MemberClient } from '#events/partners/members/member.js';
import { sampleClientOf, type DocsReader } from '../readers/docs-reader.js';

interface ClientChoiceProps {
  label: string;
  all: MemberClient[];
  chosen: MemberClient;
}

/** Another of the reader's clients, where there are several. */
export function ClientChoice({ label, all, chosen }: ClientChoiceProps): VNode | null {
  if (all.length < 2) return null;
  return (
    <form class="client-choice" method="get">
      <label for="client">{label}</label>
      <select name="client" id="client">
        {all.map(({ id, name, organisationName }) => (
          <option value={id} selected={id === chosen.id}>
            {`${name}, ${organisationName}`}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet">
        Use this client
      </button>
    </form>
  );
}

/** With which client's values the samples of a page are filled, and where to put in the secret. */
export function YourClient({ of, address }: { of: DocsReader | undefined; address: string }): VNode {
  const client = sampleClientOf(of);
  return (
    <section class="notice your-client" aria-label="Your client">
      {of && client ? (
        <Chosen client={client} all={of.sandbox.all} isByLink={client === of.byLink} />
      ) : (
        <p>{of ? <NoSandbox /> : <WhoYouAre address={address} />}</p>
      )}
      {/* Only with a script: nothing that is typed here is sent. */}
      <details class="your-values">
        <summary>
          {client ? 'Put your secret into the samples' : 'Put your credentials into the samples'}
        </summary>
        {!client && <Value label="Client ID" variable="CLIENT_ID" type="text" />}
        <Value label="Client secret" variable="CLIENT_SECRET" type="password" />
        <p class="hint">It stays on this page: it is neither sent nor stored, and gone when you leave.</p>
      </details>
    </section>
  );
}

interface ChosenProps {
  client: MemberClient;
  all: MemberClient[];
  /** The reader came to its portal with a one-time link. */
  isByLink: boolean;
}

const Chosen = ({ client, all, isByLink }: ChosenProps): VNode => (
  <>
    <p>
      The samples have {client.environment === 'live' ? 'the id and the host' : 'the values'} of{' '}
      <bdi class="identity-name">{client.name}</bdi> <SandboxBadge of={client} /> of{' '}
      <bdi>{client.organisationName}</bdi>
      {isByLink && (
        <>
          , whose <a href="/portal">portal</a> is open in this browser
        </>
      )}
      .{client.environment === 'live' && <strong> It is a live client: its users are real people.</strong>} We
      keep no copy of its secret that could be shown: put yours in
      {!isByLink && (
        <>
          , or make a new one in the <a href="/portal/sign-in">portal</a>
        </>
      )}
      .
    </p>
    <ClientChoice label="Sandbox client" all={all} chosen={client} />
  </>
);

const NoSandbox = (): VNode => (
  <>
    Your organisation has no sandbox client yet. Ask your contact for one: then the samples have its values.
  </>
);

const WhoYouAre = ({ address }: { address: string }): VNode => (
  <>
    <a href={`/login?${new URLSearchParams({ return_to: address }).toString()}`}>Log in</a> as a member of a
    partner’s organisation, or open the portal with a link of your client, and the samples have its values.
  </>
);

interface ValueProps {
  label: string;
  variable: 'CLIENT_ID' | 'CLIENT_SECRET';
  type: 'text' | 'password';
}

const Value = ({ label, variable, type }: ValueProps): VNode => (
  <label>
    {label}
    <input type={type} data-fills={variable} autocomplete="off" spellcheck={false} />
  </label>
);
