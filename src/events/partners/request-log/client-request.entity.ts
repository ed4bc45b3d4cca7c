import { Column, Entity } from 'typeorm';
import { AnsweredRequest } from '#records/requests/answered-request.entity.js';

/** One request of a client, as it sees it in its portal (contract §20). */
@Entity('client_requests')
export class ClientRequestEntity extends AnsweredRequest {
  @Column('timestamptz') occurredAt!: Date;
  @Column('text') clientId!: string;
}

/** A request before it is stored. */
export type NewClientRequest = Omit<ClientRequestEntity, 'id'>;
