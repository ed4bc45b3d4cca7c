import type { ComponentChildren, VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { LinkButton } from '../forms/form.js';
import { LogoutButton, SignedInAs, type LayoutProps } from './layout.js';
import { Say, useText } from './say.js';

export interface StartPageProps {
  signedInAs?: { name: string; email: string };
  /** Whether the logged-in user may open the console. */
  isOperator?: boolean;
  /** Whether drivers make their own accounts. */
  offersSignUp?: boolean;
  /** Where the demonstration shows its sandbox. */
  liveSandbox?: string;
}

/** The start page (titled Home): what this service is, with links for every kind of user. */
export const startPage = (props: StartPageProps): LayoutProps => ({
  title: say('Home'),
  description: say(
    'Applications can ask to read the charging data of your electric vehicle. This is where you decide.',
  ),
  width: 'broad',
  isTranslated: true,
  children: <Home {...props} />,
});

const strong = { strong: (children: ComponentChildren) => <strong>{children}</strong> };

function Home(props: StartPageProps): VNode {
  const t = useText();
  const { signedInAs, liveSandbox } = props;
  return (
    <>
      <div class="hero">
        <div>
          <h1>{t('Your charging data, shared on your terms')}</h1>
          <p class="lead">
            {t(
              'Applications can ask to read the charging data of your electric vehicle. This is where you decide.',
            )}
          </p>
          {liveSandbox !== undefined && (
            <>
              <p>
                {t(
                  'A car charges in the sandbox, and its signed webhooks arrive while you watch. You need no account.',
                )}
              </p>
              <div class="buttons">
                <LinkButton href={liveSandbox}>{t('Watch the live sandbox')}</LinkButton>
              </div>
            </>
          )}
        </div>
        <HomePicture
          label={t(
            'Data goes from the vehicle to this service, and from there only to the application that the driver agreed to.',
          )}
        />
      </div>
      <ol class="steps">
        <li>
          <Say
            it="<strong>An application sends you here.</strong> You log in with this service, not with the application."
            with={strong}
          />
        </li>
        <li>
          <Say
            it="<strong>You see what it wants to read,</strong> item by item and in plain words."
            with={strong}
          />
        </li>
        <li>
          <Say
            it="<strong>You decide.</strong> Authorize or cancel. You can disconnect an application at any time."
            with={strong}
          />
        </li>
      </ol>
      {signedInAs && <SignedInAs {...signedInAs} />}
      <Doors {...props} />
      {signedInAs && (
        <div class="actions">
          <LogoutButton />
        </div>
      )}
    </>
  );
}

/** Where drivers, partners and operators go on. */
function Doors({ signedInAs, isOperator, offersSignUp, liveSandbox }: StartPageProps): VNode {
  const t = useText();
  // One button of a page is filled.
  const look = liveSandbox === undefined ? {} : { look: 'quiet' as const };
  return (
    <div class="doors">
      <section>
        <h2>{t('For drivers')}</h2>
        <p>{t('See which applications read your data, and end what you no longer want.')}</p>
        {signedInAs ? (
          <LinkButton {...look} href="/account">
            {t('Go to your account')}
          </LinkButton>
        ) : (
          <>
            <LinkButton {...look} href="/login">
              {t('Log in')}
            </LinkButton>
            {offersSignUp && (
              <p>
                <a href="/sign-up">{t('Create an account')}</a>
              </p>
            )}
          </>
        )}
      </section>
      <section>
        <h2>{t('For partners')}</h2>
        <p>{t('Credentials, webhooks and requests of your applications, and a sandbox to build with.')}</p>
        <LinkButton look="quiet" href="/portal/sign-in">
          {t('Open the webhook portal')}
        </LinkButton>
        <p>
          <a href="/docs/guides">{t('Read the guides')}</a>
        </p>
      </section>
      {(isOperator || !signedInAs) && (
        <section>
          <h2>{t('For operators')}</h2>
          <p>{t('Clients, users and deliveries of this service.')}</p>
          <LinkButton look="quiet" href="/admin/console">
            {t('Open the console')}
          </LinkButton>
        </section>
      )}
    </div>
  );
}

/** What the service is in one picture: a vehicle, the decision of its driver, and applications, of which only one gets the data. */
const HomePicture = ({ label }: { label: string }): VNode => (
  <svg
    class="home-picture"
    viewBox="0 0 640 170"
    role="img"
    aria-label={label}
    fill="none"
    stroke="var(--pico-muted-color)"
    stroke-width="4"
    stroke-linecap="round"
    stroke-linejoin="round"
  >
    {/* The vehicle at its charging station. */}
    <g>
      <path d="M30 128h-8v-22c0-8 5-12 12-14l18-4 20-26c3-4 7-6 12-6h38c6 0 10 2 14 6l22 24 14 4c8 2 12 8 12 16v22h-14" />
      <path d="M64 128h68" />
      <circle cx="47" cy="128" r="15" />
      <circle cx="149" cy="128" r="15" />
      <path d="M78 86l14-18c2-2 4-4 8-4h8v22zM120 86V64h8c3 0 6 1 8 4l14 18z" />
    </g>
    <path fill="var(--pico-primary)" stroke="none" d="M103 92l-14 20h10l-3 15 15-21h-10z" />
    <path stroke="var(--pico-primary)" d="M196 104h70" />
    {/* The decision. */}
    <rect
      fill="var(--accent-soft)"
      stroke="var(--pico-primary)"
      x="272"
      y="48"
      width="92"
      height="92"
      rx="24"
    />
    <path stroke="var(--pico-primary)" stroke-width="7" d="M298 95l14 15 27-31" />
    <path stroke="var(--pico-primary)" d="M372 82c40-4 44-32 88-32" />
    <path stroke-dasharray="6 9" opacity="0.6" d="M372 108c40 4 44 32 88 32" />
    {/* The applications. */}
    <g>
      <rect x="468" y="22" width="140" height="54" rx="12" />
      <path d="M488 58V46M504 58V38M520 58V50M544 42h44M544 56h28" />
    </g>
    <g stroke-dasharray="6 9" opacity="0.6">
      <rect x="468" y="112" width="140" height="54" rx="12" />
      <path d="M526 128l24 22M550 128l-24 22" />
    </g>
  </svg>
);
