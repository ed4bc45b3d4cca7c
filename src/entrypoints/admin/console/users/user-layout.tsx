import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { subjectPage, type SubjectPage } from '../pages/subject-page.js';
import type { OperatorRole } from '#platform/config/operator-role.js';

/** The labels of the operator roles in forms. */
export const ROLE_LABELS: Record<OperatorRole, string> = {
  viewer: 'Viewer: sees everything except secrets, and changes nothing',
  support: 'Support: also helps users who are not operators',
  admin: 'Admin: everything',
};

export const USERS_PATH = '/admin/console/users';

export const userPath = (id: string, part = ''): string => `${USERS_PATH}/${id}${part && `/${part}`}`;

/** A page about one user. */
export const aboutUser = ({ id, name, role, environment }: UserEntity, page: SubjectPage): ConsolePage =>
  subjectPage(
    {
      part: 'users',
      list: { href: USERS_PATH, label: 'Users' },
      name,
      environment,
      path: userPath(id),
      links: [
        { part: 'user', label: 'User', href: userPath(id) },
        { part: 'applications', label: 'Connected clients', href: userPath(id, 'applications') },
        { part: 'identities', label: 'Identity providers', href: userPath(id, 'identities') },
        { part: 'members', label: 'Members', href: userPath(id, 'members') },
        { part: 'grants', label: 'Active grants', href: userPath(id, 'grants') },
        { part: 'notifications', label: 'Notifications', href: `/admin/console/notifications?user_id=${id}` },
        { part: 'mails', label: 'Mails', href: `/admin/console/mails?user_id=${id}` },
        { part: 'done', label: 'Actions', href: `/admin/console/audit?actor=${id}` },
        { part: 'audit', label: 'Audit log', href: `/admin/console/audit?subject=${id}` },
      ],
    },
    { ...page, isAboutOperator: role === 'operator' },
  );
