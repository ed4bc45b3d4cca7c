import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Whether the visitor may open the page at a path, or post a form to it. */
export type MayUse = (method: 'GET' | 'POST', path: string) => boolean;

/** What the visitor may use; by default everything. Links and forms that lead elsewhere are left out of pages. */
export const Permissions = createContext<MayUse>(() => true);

/** The same for a component, for paths with a query. */
export function useMayUse(): MayUse {
  const mayUse = useContext(Permissions);
  return (method, path) => mayUse(method, path.split(/[?#]/, 1)[0]!);
}
