import { createContext, type ComponentChildren, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { OperatorRole } from '#platform/config/operator-role.js';

/** The role with which the page is shown. */
export const RoleOfVisitor = createContext<OperatorRole>('admin');

/** A part of a form that only admins see. */
export function ForAdmins({ children }: { children: ComponentChildren }): VNode | null {
  return useContext(RoleOfVisitor) === 'admin' ? <>{children}</> : null;
}

/** An action on a user in a list; hidden from non-admins if the user counts as an operator. */
export function ActionOn(props: { isOperator: boolean; children: ComponentChildren }): VNode | null {
  const role = useContext(RoleOfVisitor);
  return role === 'admin' || !props.isOperator ? <>{props.children}</> : null;
}
