import { insertRedirectUriRequest } from '../redirect-uri-requests.js';
import type { Stage } from './stage.js';

/** What operators do about the portal of a partner: its members, and redirect URIs that they ask for. */
export async function recordMemberPortal(stage: Stage): Promise<void> {
  const { service, cast } = stage;
  const { owner, partner } = cast;
  const grace = await service.make.user({
    email: 'grace@planner.example',
    name: 'Grace',
    emailVerified: true,
  });
  const added = { path: { id: owner.id }, json: { user_id: grace.id, role: 'developer' } };
  await stage.operator('addMember', 201, added);
  await stage.conflict('addMember', added);
  await stage.operator('listMembers', 200, { path: { id: owner.id }, query: { page_size: 2 } });
  const changed = { path: { id: owner.id, user_id: grace.id }, json: { role: 'admin' } };
  const ofOwner = { path: { id: owner.id, user_id: owner.id } };
  await stage.operator('changeMember', 200, changed);
  await stage.conflict('changeMember', { ...changed, ...ofOwner });

  const ask = (uri: string): Promise<string> =>
    insertRedirectUriRequest(service.database, { clientId: partner.id, by: grace.id, uri });
  const first = await ask('https://planner.example/callback');
  const second = await ask('https://staging.planner.example/callback');
  await stage.operator('listRedirectUriRequests', 200, { query: { state: 'pending', page_size: 2 } });
  const approved = { path: { id: first } };
  await stage.operator('approveRedirectUriRequest', 200, approved);
  await stage.conflict('approveRedirectUriRequest', approved);
  const rejected = { path: { id: second }, json: { reason: 'This host is not yours.' } };
  await stage.operator('rejectRedirectUriRequest', 200, rejected);
  await stage.conflict('rejectRedirectUriRequest', rejected);

  await stage.conflict('removeMember', ofOwner);
  await stage.operator('removeMember', 204, { path: changed.path });
}
