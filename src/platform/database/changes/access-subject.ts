/** Who is affected by a change: a client, a user, or a client for one user; everyone if both are missing (contract §23). */
export interface AccessSubject {
  client_id?: string;
  user_id?: string;
}
