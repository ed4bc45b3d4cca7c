import type { LayoutProps } from '../../src/web/layout/layout.js';
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
        <div class="actions">
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
