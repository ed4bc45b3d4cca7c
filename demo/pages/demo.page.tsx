import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Facts } from '#platform/web/tables/facts.js';
import type { DemoGuide } from '../demo-guide.js';

/** Everything about the demonstration: where to look, as whom, and commands to paste. */
export const demoPage = ({ links, people, clients, steps }: DemoGuide): LayoutProps => ({
  title: 'Demonstration',
  width: 'broad',
  footer: 'demonstration',
  scripts: ['/assets/page.js'],
  children: (
    <>
      <h1>Demonstration</h1>
      <p class="lead">
        Everything here runs on this machine, with invented people and data. Only this machine can open this
        page.
      </p>
      <p class="actions">
        <a class="button-link" href="/demo/sandbox">
          Open the live sandbox
        </a>
      </p>
      <h2>Places</h2>
      <ul>
        {links.map(({ name, url, note }) => (
          <li>
            <a href={url}>{name}</a>
            {note && ` (${note})`}
          </li>
        ))}
      </ul>
      <h2>People</h2>
      <ul class="entries" role="list">
        {people.map(({ who, email, password, note }) => (
          <li>
            <h3>{note ? `${who} (${note})` : who}</h3>
            <Facts
              facts={[
                ['Email', email],
                ['Password', <code data-copy={`Copy password of ${email}`}>{password}</code>],
              ]}
            />
          </li>
        ))}
      </ul>
      <p>
        The driver and the operator can also log in with “Continue with Demo company”, without a password.
      </p>
      <h2>Clients</h2>
      <ul class="entries" role="list">
        {clients.map(({ name, id, secret }) => (
          <li>
            <h3>{name}</h3>
            <Facts
              facts={[
                ['client_id', <code>{id}</code>],
                secret !== undefined && ['client_secret', <code>{secret}</code>],
              ]}
            />
          </li>
        ))}
      </ul>
      <h2>To try</h2>
      <p>
        The same as text: <a href="/demo.txt">demo.txt</a>.
      </p>
      <ol class="entries" role="list">
        {steps.map(({ title, commands }, n) => (
          <li>
            <h3>
              {n + 1}. {title}
            </h3>
            {commands.map((command, part) => (
              <pre
                data-copy={`Copy ${n + 1}${'abc'[part] ?? ''}`}
                tabIndex={0}
                role="region"
                aria-label={`Command ${n + 1}${'abc'[part] ?? ''}`}
              >
                <code>{command}</code>
              </pre>
            ))}
          </li>
        ))}
      </ol>
    </>
  ),
});
