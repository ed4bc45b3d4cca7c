import type { ComponentChildren, VNode } from 'preact';
import { say } from '#platform/language/text.js';
import { LinkButton } from '../forms/form.js';
import { HomePicture } from './home-picture.js';
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
      <h1>{t('Your charging data, shared on your terms')}</h1>
      <p class="lead">
        {t(
          'Applications can ask to read the charging data of your electric vehicle. This is where you decide.',
        )}
      </p>
      {liveSandbox !== undefined && (
        <section class="notice">
          <p>
            {t(
              'A car charges in the sandbox, and its signed webhooks arrive while you watch. You need no account.',
            )}
          </p>
          <div class="buttons">
            <LinkButton href={liveSandbox}>{t('Watch the live sandbox')}</LinkButton>
          </div>
        </section>
      )}
      <HomePicture
        label={t(
          'Data goes from the vehicle to this service, and from there only to the application that the driver agreed to.',
        )}
      />
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
function Doors({ signedInAs, isOperator, offersSignUp }: StartPageProps): VNode {
  const t = useText();
  return (
    <div class="doors">
      <section>
        <h2>{t('For drivers')}</h2>
        <p>{t('See which applications read your data, and end what you no longer want.')}</p>
        {signedInAs ? (
          <LinkButton href="/account">{t('Go to your account')}</LinkButton>
        ) : (
          <>
            <LinkButton href="/login">{t('Log in')}</LinkButton>
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
