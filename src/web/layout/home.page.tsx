import type { ComponentChildren, VNode } from 'preact';
import { say } from '../../language/text.js';
import { LinkButton } from '../forms/form.js';
import { LogoutButton, SignedInAs, type LayoutProps } from './layout.js';
import { Say, useText } from './say.js';

export interface HomePageProps {
  signedInAs?: { name: string; email: string };
  /** Whether the logged-in user may open the console. */
  isOperator?: boolean;
}

/** The start page: what this service is, and who is logged in. */
export const homePage = (props: HomePageProps): LayoutProps => ({
  title: say('Home'),
  width: 'wide',
  isTranslated: true,
  children: <Home {...props} />,
});

const strong = { strong: (children: ComponentChildren) => <strong>{children}</strong> };

function Home({ signedInAs, isOperator }: HomePageProps): VNode {
  const t = useText();
  return (
    <>
      <h1>{t('Your charging data, shared on your terms')}</h1>
      <p class="lead">
        {t(
          'Applications can ask to read the charging data of your electric vehicle. This is where you decide.',
        )}
      </p>
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
      {signedInAs ? (
        <>
          <SignedInAs {...signedInAs} />
          <div class="actions actions-pair">
            <LinkButton href="/account">{t('Go to your account')}</LinkButton>
            {isOperator && <LinkButton href="/admin/console">{t('Open the console')}</LinkButton>}
          </div>
          <div class="actions">
            <LogoutButton />
          </div>
        </>
      ) : (
        <p class="actions">
          <LinkButton href="/login">{t('Log in')}</LinkButton>
        </p>
      )}
    </>
  );
}
