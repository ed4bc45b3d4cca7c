import type { LayoutProps } from '#platform/web/layout/layout.js';
import { Table } from '#platform/web/tables/table.js';
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
      <div class="buttons">
        <a class="button-link" href="/demo/sandbox">
          Open the live sandbox
        </a>
      </div>
      <ul class="type-list" role="list">
        {links.map(({ name, url, note }) => (
          <li>
            <a href={url}>{name}</a>
            {note && <span class="muted"> ({note})</span>}
          </li>
        ))}
      </ul>
      <h2 id="people">People</h2>
      <Table
        caption="People"
        labelledBy="people"
        rows={people}
        columns={[
          { head: 'Who', cell: ({ who, note }) => (note ? `${who} (${note})` : who) },
          { head: 'Email', cell: ({ email }) => <code class="id">{email}</code> },
          { head: 'Password', cell: ({ password }) => <code class="id">{password}</code> },
        ]}
      />
      <p class="hint">
        The driver and the operator can also log in with “Continue with Demo company”, without a password.
      </p>
      <h2 id="clients">Clients</h2>
      <Table
        caption="Clients"
        labelledBy="clients"
        rows={clients}
        columns={[
          { head: 'Client', cell: ({ name }) => name },
          { head: 'client_id', cell: ({ id }) => <code class="id">{id}</code> },
          {
            head: 'client_secret',
            cell: ({ secret }) => (secret === undefined ? '' : <code class="id">{secret}</code>),
          },
        ]}
      />
      <h2>Try it</h2>
      <p>
        Paste the commands into a terminal. The same as text: <a href="/demo.txt">demo.txt</a>.
      </p>
      {steps.map(({ title, note, commands }, n) => (
        <details>
          <summary>
            {n + 1}. {title}
          </summary>
          {note && <p>{note}.</p>}
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
        </details>
      ))}
    </>
  ),
});
