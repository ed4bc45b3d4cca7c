import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import type { EventTypeEntity } from '../../webhooks/event-types/event-type.entity.js';
import { FieldNotes, TextField } from './field.js';
import { renderPortalPage, type PortalFrame } from './portal-layout.js';

/** What stands in the form, as it was typed. */
export interface EndpointInput {
  url: string;
  description: string;
  eventTypes: string[];
}

/** What is wrong with which field. */
export type EndpointErrors = Partial<Record<keyof EndpointInput | 'form', string>>;

export interface EndpointFormPageProps {
  frame: PortalFrame;
  csrfToken: string;
  /** The endpoint that is edited; left out for a new one. */
  id?: string;
  input: EndpointInput;
  errors: EndpointErrors;
  /** Those that the client's scopes allow. */
  eventTypes: EventTypeEntity[];
}

/** The form of a new endpoint, or of one that is there. It posts `url`, `description` and `event_types` to its own address. */
export function endpointFormPage(props: EndpointFormPageProps): string {
  const { frame, csrfToken, id, input, errors, eventTypes } = props;
  const back = id === undefined ? '/portal' : `/portal/endpoints/${id}`;
  return renderPortalPage({
    frame,
    title: id === undefined ? 'Add endpoint' : 'Edit endpoint',
    part: 'endpoints',
    above: { href: back, label: id === undefined ? 'Endpoints' : 'Endpoint' },
    children: (
      <>
        {Object.keys(errors).length > 0 && (
          <p class="notice notice-error" role="alert">
            {errors.form ?? 'Nothing was saved. What is wrong stands beside the fields.'}
          </p>
        )}
        <form method="post" action={id === undefined ? '/portal/endpoints/new' : `${back}/edit`} novalidate>
          <CsrfField token={csrfToken} />
          <TextField
            id="url"
            name="url"
            type="url"
            label="URL"
            required
            autocomplete="off"
            spellcheck={false}
            value={input.url}
            placeholder="https://"
            hint="Where we send events by POST: https, on the public internet."
            error={errors.url}
          />
          <TextField
            id="description"
            name="description"
            label="Description"
            autocomplete="off"
            value={input.description}
            hint="For you alone, for example which system receives the events. It may be left empty."
            error={errors.description}
          />
          <EventTypes eventTypes={eventTypes} chosen={input.eventTypes} error={errors.eventTypes} />
          <div class="actions actions-row">
            <button type="submit">Save</button>
            <a class="button-link quiet" href={back}>
              Cancel
            </a>
          </div>
        </form>
      </>
    ),
  });
}

interface EventTypesProps {
  eventTypes: EventTypeEntity[];
  chosen: string[];
  error?: string;
}

function EventTypes({ eventTypes, chosen, error }: EventTypesProps): VNode {
  const id = 'event-types';
  return (
    <fieldset class="choices" aria-describedby={error ? `${id}-error ${id}-hint` : `${id}-hint`}>
      <legend>Event types</legend>
      <FieldNotes id={id} error={error} hint="What is sent to this endpoint. Choose one or more." />
      {eventTypes.map(({ name, description }) => (
        <div class="choice">
          <input
            type="checkbox"
            id={`type-${name}`}
            name="event_types"
            value={name}
            checked={chosen.includes(name)}
            aria-describedby={`type-${name}-hint`}
            {...(error ? { 'aria-invalid': 'true' as const } : {})}
          />
          <div>
            <label for={`type-${name}`}>{name}</label>
            <small id={`type-${name}-hint`}>{description}</small>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
