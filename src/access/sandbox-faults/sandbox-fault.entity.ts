import { Column, Entity, PrimaryColumn } from 'typeorm';

export const REQUEST_FAULTS = ['401', '429', '503'] as const;
/** How a request to a bearer endpoint for partners fails. */
export type RequestFault = (typeof REQUEST_FAULTS)[number];

export const FAULT_KINDS = ['refresh', ...REQUEST_FAULTS] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What fails next for a client in a sandbox (contract §19). */
@Entity('sandbox_faults')
export class SandboxFaultEntity {
  @PrimaryColumn('text') clientId!: string;
  /** `refresh`, or `requests` to bearer endpoints for partners. */
  @PrimaryColumn('text') target!: 'refresh' | 'requests';
  @Column('text') kind!: FaultKind;
  /** How often it still fails. */
  @Column('integer') remaining!: number;
  @Column('timestamptz') expiresAt!: Date;
}
