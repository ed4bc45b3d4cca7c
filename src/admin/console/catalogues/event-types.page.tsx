import { Json } from '../../../web/tables/json.js';
import { Table } from '../../../web/tables/table.js';
import type { EventTypeEntity } from '../../../webhooks/event-types/event-type.entity.js';
import type { ConsolePage } from '../pages/console-layout.js';

/** The catalogue of event types, with a sample of each. */
export function eventTypesPage({ types }: { types: EventTypeEntity[] }): ConsolePage {
  return {
    part: 'event-types',
    title: 'Event types',
    children: (
      <Table
        caption="Event types"
        rows={types}
        columns={[
          { head: 'Type', cell: ({ name }) => <code class="whole">{name}</code> },
          {
            head: 'Fires when',
            cell: ({ description, sample, name }) => (
              <>
                {description}
                <details class="changes">
                  <summary>
                    Sample<span class="visually-hidden"> of {name}</span>
                  </summary>
                  <Json text={JSON.stringify(sample)} />
                </details>
              </>
            ),
          },
          { head: 'Scope', cell: ({ scope }) => (scope ? <code class="whole">{scope}</code> : 'none') },
          {
            head: 'Published by',
            cell: ({ publisher }) => (publisher === 'itself' ? 'this service' : 'the company’s services'),
          },
        ]}
      />
    ),
  };
}
