import type { VNode } from 'preact';
import { PostButton } from '#platform/web/forms/form.js';
import { Say } from '#platform/web/layout/say.js';

/** A provider as pages show it. */
export interface ProviderName {
  id: string;
  label: string;
}

const providerPath = (id: string): string => `/login/providers/${id}`;

/** A button for each provider, which leads there. */
export const ProviderButtons = ({
  providers,
  returnTo,
}: {
  providers: readonly ProviderName[];
  returnTo?: string;
}): VNode => (
  <div class="providers">
    {providers.map(({ id, label }) => (
      <PostButton action={providerPath(id)} hidden={{ return_to: returnTo }} look="quiet">
        <Say
          it="Continue with <name>{label}</name>"
          with={{ label, name: (children) => <bdi>{children}</bdi> }}
        />
      </PostButton>
    ))}
  </div>
);
