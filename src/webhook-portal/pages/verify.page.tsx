import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import type { CheckInput } from '../signature-check.js';
import { Field, SelectField, TextField } from '../../http/pages/field.js';
import { renderPortalPage, type PortalLayoutProps } from './portal-layout.js';
import { SNIPPETS } from './snippets.js';

export interface VerifyPageProps {
  layoutProps: PortalLayoutProps;
  csrfToken: string;
  endpoints: { id: string; url: string }[];
  input: CheckInput;
  /** The result of a check, in sentences. */
  result?: { matches: boolean; words: string[] };
  endpointError?: string;
}

/** How to verify a signature, and a checker. The checker posts to this page and never shows a secret. */
export function verifyPage(props: VerifyPageProps): string {
  return renderPortalPage({
    layoutProps: props.layoutProps,
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
            <pre data-copy tabIndex={0} role="region" aria-label={`Example for ${language}`}>
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
  });
}

function Checker({ csrfToken, endpoints, input, result, endpointError }: VerifyPageProps): VNode {
  return (
    <>
      {result && (
        <div class={`outcome outcome-${result.matches ? 'delivered' : 'failed'}`} role="status">
          <p class="outcome-line">
            <span class={`badge ${result.matches ? 'badge-good' : 'badge-bad'}`}>
              {result.matches ? 'Match' : 'No match'}
            </span>
          </p>
          {result.words.map((words) => (
            <p>{words}</p>
          ))}
        </div>
      )}
      <form method="post" action="/portal/verify#checker">
        <CsrfField token={csrfToken} />
        <SelectField
          id="endpoint"
          name="endpoint"
          label="Endpoint"
          value={input.endpoint}
          error={endpointError}
          hint="Its secret is used for the check and never shown here."
          options={endpoints.map(({ id, url }) => ({ value: id, label: url.slice(0, 100) }))}
        />
        {(['id', 'timestamp', 'signature'] as const).map((name) => (
          <TextField
            id={`webhook-${name}`}
            name={`webhook-${name}`}
            label={`webhook-${name}`}
            value={input[name]}
            autocomplete="off"
            spellcheck={false}
          />
        ))}
        <details open={input.headers !== ''}>
          <summary>Or paste all headers</summary>
          <Area
            id="headers"
            label="Headers"
            value={input.headers}
            hint="One per line. The fields above take precedence."
          />
        </details>
        <Area id="body" label="Body" value={input.body} hint="Exactly as received." />
        <div class="actions actions-row">
          <button type="submit">Check</button>
        </div>
      </form>
    </>
  );
}

interface AreaProps {
  id: 'headers' | 'body';
  label: string;
  value: string;
  hint: string;
}

/** Browsers drop a leading line break in a textarea, so one is added before the text. */
function Area({ id, label, value, hint }: AreaProps): VNode {
  return (
    <Field id={id} label={label} hint={hint}>
      <textarea id={id} name={id} rows={5} spellcheck={false} aria-describedby={`${id}-hint`}>
        {`\n${value}`}
      </textarea>
    </Field>
  );
}
