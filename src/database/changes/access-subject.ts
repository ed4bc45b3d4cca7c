/** Whom a change is about: a client, a user, or the two together; neither: everybody (contract §23). */
export interface AccessSubject {
  client_id?: string;
  user_id?: string;
}
