import type { VNode } from 'preact';
import type { MemberClient } from '#events/partners/members/member.js';

interface ClientChoiceProps {
  label: string;
  all: MemberClient[];
  chosen: MemberClient;
}

/** Another of the reader's clients, where there are several. */
export function ClientChoice({ label, all, chosen }: ClientChoiceProps): VNode | null {
  if (all.length < 2) return null;
  return (
    <form class="client-choice" method="get">
      <label for="client">{label}</label>
      <select name="client" id="client">
        {all.map(({ id, name, organisationName }) => (
          <option value={id} selected={id === chosen.id}>
            {`${name}, ${organisationName}`}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet">
        Use this client
      </button>
    </form>
  );
}
