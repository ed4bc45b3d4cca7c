import type { VNode } from 'preact';
import { useMayUse } from '#platform/web/layout/may-use.js';
import type { PortalHome } from './portal-home.service.js';
import { endpointPath } from '../endpoints/about-endpoint.js';

export interface FirstStepsProps {
  isConfidential: boolean;
  done: PortalHome['done'];
  firstEndpoint: string | undefined;
}

interface Step {
  isDone: boolean;
  text: string;
  /** Where to do it, unless the page itself says so. */
  way?: { href: string; link: string };
}

/** The first steps of a new partner. Steps are ticked off automatically. */
export function FirstSteps(props: FirstStepsProps): VNode {
  const mayUse = useMayUse();
  const steps = stepsOf(props);
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <section class="tile-card first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">
        First steps{' '}
        <span class="muted">
          {steps.filter(({ isDone }) => isDone).length} of {steps.length} done
        </span>
      </h2>
      <ol class="steps">
        {steps.map((step) => (
          <li>
            {step.text} {step.isDone && <span class="muted">✓ Done</span>}
            {step === next && step.way && mayUse('GET', step.way.href) && (
              <a href={step.way.href}>{step.way.link}</a>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

const stepsOf = ({ isConfidential, done, firstEndpoint }: FirstStepsProps): Step[] => [
  {
    isDone: done.credentials,
    text: isConfidential ? 'Have a client ID and a secret.' : 'Have a client ID.',
    way: { href: '/portal/credentials', link: 'View credentials' },
  },
  {
    isDone: done.token,
    text: 'Get a first access token.',
    way: { href: '/docs/guides/first-token', link: 'Read how to get a token' },
  },
  {
    isDone: done.endpoint,
    text: 'Add an endpoint, to which events are sent.',
  },
  {
    isDone: done.delivery,
    text: 'Receive a first delivery: send a test, and answer with 204.',
    way: firstEndpoint
      ? { href: endpointPath(firstEndpoint, 'test'), link: 'Send the first test' }
      : { href: '/docs/guides/webhooks', link: 'Read how to receive webhooks' },
  },
  ...(done.user === undefined
    ? []
    : [
        {
          isDone: done.user,
          text: 'Connect a first user, who agrees on the consent page.',
          way: { href: '/docs/guides/on-behalf-of-a-user', link: 'Read how users connect' },
        },
      ]),
];
