import type { LayoutProps } from '#platform/web/layout/layout.js';
import type { DemoPerson } from '../identity/demo-identity-provider.js';

/** The page of the demonstration's identity provider: one button for each person. */
export const choosePersonPage = (action: string, people: DemoPerson[]): LayoutProps => ({
  title: 'Demo company',
  footer: 'the identity provider of the demonstration',
  children: (
    <>
      <h1>Demo company</h1>
      <p class="lead">This page stands in for a company’s identity provider. Who are you?</p>
      <form method="post" action={action}>
        <div class="actions choices">
          {people.map(({ id, name }) => (
            <button type="submit" name="person" value={id}>
              {name}
            </button>
          ))}
          <button type="submit" name="person" value="" class="quiet">
            Cancel
          </button>
        </div>
      </form>
    </>
  ),
});

/** Where the demonstration's identity provider asks before it ends the session there; `form` is the provider's own, as HTML. */
export const logOutTherePage = (form: string): LayoutProps => ({
  title: 'Log out of Demo company',
  footer: 'the identity provider of the demonstration',
  children: (
    <>
      <h1>Log out of Demo company?</h1>
      <p class="lead">You are logged out of the service already.</p>
      <div dangerouslySetInnerHTML={{ __html: form }} />
      <div class="actions choices">
        <button type="submit" form="op.logoutForm" name="logout" value="yes">
          Log out there too
        </button>
        <button type="submit" form="op.logoutForm" class="quiet">
          Stay logged in there
        </button>
      </div>
    </>
  ),
});
