import type { EventTypeEntity } from '../../../webhooks/event-types/event-type.entity.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { Table } from '../pages/lists.js';

/** The catalogue of event types, with a sample of each. */
export function eventTypesPage({
  layoutProps,
  types,
}: {
  layoutProps: UserLayoutProps;
  types: EventTypeEntity[];
}): string {
  return renderConsolePage({
    layoutProps,
    part: 'event-types',
    title: 'Event types',
    children: (
      <Table
        caption="Event types"
        rows={types}
        columns={[
          { head: 'Type', cell: ({ name }) => <code>{name}</code> },
          {
            head: 'Fires when',
            cell: ({ description, sample, name }) => (
              <>
                {description}
                <details class="changes">
                  <summary>
                    Sample<span class="visually-hidden"> of {name}</span>
                  </summary>
                  <pre>
                    <code>{JSON.stringify(sample, null, 2)}</code>
                  </pre>
                </details>
              </>
            ),
          },
          { head: 'Scope', cell: ({ scope }) => (scope ? <code>{scope}</code> : 'none') },
          {
            head: 'Published by',
            cell: ({ publisher }) => (publisher === 'itself' ? 'this service' : 'the company’s services'),
          },
        ]}
      />
    ),
  });
}
