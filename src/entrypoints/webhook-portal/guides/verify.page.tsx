import type { VNode } from 'preact';
import { SelectField, TextArea, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { State } from '#platform/web/tables/state.js';
import type { CheckInput } from './signature-check.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { SNIPPETS } from './snippets.js';

export interface VerifyPageProps {
  endpoints: { id: string; url: string }[];
  input: CheckInput;
  /** The result of a check, in sentences. */
  result?: { matches: boolean; messages: string[] };
  errors?: FieldErrors;
}

/** How to verify a signature, and a checker. The checker posts to this page and never shows a secret. */
export function verifyPage(props: VerifyPageProps): PortalPage {
  return {
    title: 'Verify signatures',
    part: 'verify',
    children: (
      <>
        <p>
          Requests are signed to <strong>Standard Webhooks 1.0</strong>: <code>webhook-signature</code> holds{' '}
          <code>v1,</code> followed by the base64 HMAC-SHA256 of the id, the timestamp and the body, joined by
          dots. The key is the endpoint’s secret after <code>whsec_</code>, decoded from base64. For 24 hours
          after a rotation there are two signatures, separated by a space: one match is enough. Reject a{' '}
          <code>webhook-timestamp</code> that is more than five minutes off, and remember each{' '}
          <code>webhook-id</code>: retries reuse it.
        </p>
        <h2>In your language</h2>
        {SNIPPETS.map(({ language, install, code }, index) => (
          <details open={index === 0 && !props.result}>
            <summary>{language}</summary>
            <p>{/^(npm|pip|go) /.test(install) ? <code>{install}</code> : install}</p>
            <pre data-copy="" tabIndex={0} role="region" aria-label={`Example for ${language}`}>
              <code>{code}</code>
            </pre>
          </details>
        ))}
        <h2 id="checker">Check a request</h2>
        {props.endpoints.length === 0 ? (
          <p class="empty">
            Add an endpoint first. Then you can paste a request here and see whether its signature matches.
          </p>
        ) : (
          <Checker {...props} />
        )}
      </>
    ),
  };
}

function Checker({ endpoints, input, result, errors }: VerifyPageProps): VNode {
  const headers = {
    'webhook-id': input.id,
    'webhook-timestamp': input.timestamp,
    'webhook-signature': input.signature,
  };
  return (
    <>
      {result && (
        <div class={`outcome outcome-${result.matches ? 'delivered' : 'failed'}`} role="status">
          <p class="outcome-line">
            <State tone={result.matches ? 'good' : 'bad'}>{result.matches ? 'Match' : 'No match'}</State>
          </p>
          {result.messages.map((message) => (
            <p>{message}</p>
          ))}
        </div>
      )}
      <PageForm
        action="/portal/verify#checker"
        values={{ ...input, ...headers }}
        errors={errors}
        submit="Check"
      >
        <SelectField
          name="endpoint"
          label="Endpoint"
          hint="Its secret is used for the check and never shown here."
          options={endpoints.map(({ id, url }) => ({ value: id, label: url.slice(0, 100) }))}
        />
        {Object.keys(headers).map((name) => (
          <TextField name={name} label={name} spellcheck={false} />
        ))}
        <details open={input.headers !== ''}>
          <summary>Or paste all headers</summary>
          <TextArea
            name="headers"
            label="Headers"
            hint="One per line. The fields above take precedence."
            rows={5}
            spellcheck={false}
          />
        </details>
        <TextArea name="body" label="Body" hint="Exactly as received." rows={5} spellcheck={false} />
      </PageForm>
    </>
  );
}
